import { writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { EmbeddingModel, LorekeepError } from '../../lib/index.js';
import { KnowledgeBaseCache } from '../../src/knowledge/index.js';
import { createTinyModel } from '../../src/tiny-model/index.js';
import { rejection } from '../helpers/errors.js';
import { temporaryFolder } from '../helpers/folder.js';

const file = temporaryFolder();
const texts = ['Honey bees dance in the hive', 'Glaciers grind valleys', 'Sourdough is flour and water'];
let model: EmbeddingModel;

beforeAll(async () => {
  await createTinyModel({ texts, path: file('tiny.gguf'), dimension: 64 });
  model = await EmbeddingModel.load(file('tiny.gguf'));
});

const write = (path: string, content: unknown) => writeFileSync(file(path), JSON.stringify(content));
const records = (count: number) => texts.slice(0, count).map((text, index) => ({ id: `r${index}`, text }));

function knowledgeBase(name: string, count = texts.length): string {
  write(`${name}-records.json`, records(count));
  write(`${name}.json`, { embedding_model: 'tiny', records_file: `${name}-records.json` });
  return file(`${name}.json`);
}

const cacheOf = (maxBytes?: number) => {
  const told: string[] = [];
  const log = {
    info: (facts: object, message: string) =>
      told.push(`${message} ${(facts as { config?: string }).config}`),
    warn() {},
  };
  return { told, cache: new KnowledgeBaseCache({ models: async () => ({ model }), maxBytes, log }) };
};

describe('a cache of knowledge bases', () => {
  it('shares one copy, keeps it when nobody holds it, and closes it at its own end', async () => {
    const path = knowledgeBase('shared');
    const { cache, told } = cacheOf();
    const pins = await Promise.all([cache.open(path), cache.open(path)]);
    expect(pins[0]?.knowledgeBase).toBe(pins[1]?.knowledgeBase);
    const third = pins[0]?.again();
    for (const pin of [...pins, third]) await pin?.release();
    expect(cache.entries()).toEqual([{ name: path, state: 'OnDemand', pins: 0, bytes: cache.bytes }]);
    expect(cache.bytes).toBeGreaterThan(0);
    {
      await using again = await cache.open(path);
      const { hits } = await again.knowledgeBase.search({ mode: 'lexical', text: 'glaciers' });
      expect(hits.map(({ id }) => id)).toEqual(['r1']);
    }
    await cache.close();
    expect([cache.size, told]).toEqual([0, [`storage loaded ${path}`, `storage closed ${path}`]]);
  });

  it('opens nothing after its end, and takes only what it can use', async () => {
    const path = knowledgeBase('ended');
    const { cache } = cacheOf();
    await cache.close();
    await rejection(cache.open(path), 'CLOSED');
    const models = async () => ({ model });
    for (const wrong of [
      undefined,
      {},
      { models, maxBytes: -1 },
      { models, maxBytes: Number.NaN },
      { models, max: 1 },
    ]) {
      expect(() => new KnowledgeBaseCache(wrong as never)).toThrow(LorekeepError);
    }
  });

  it('holds a quarter of what this process may use by default: a limit of its container counts', async () => {
    const limit = vi.spyOn(process, 'constrainedMemory').mockReturnValue(4);
    onTestFinished(() => limit.mockRestore());
    const { cache } = cacheOf();
    await (await cache.open(knowledgeBase('limited'))).release();
    expect(cache.entries()).toEqual([]);
    await cache.close();
  });

  it('closes the least recently used one that nobody holds when memory is wanted', async () => {
    const [one, two, three] = [knowledgeBase('one'), knowledgeBase('two'), knowledgeBase('three')];
    const measured = cacheOf().cache;
    await (await measured.open(one)).release();
    const { cache } = cacheOf(Math.ceil(measured.bytes * 2.5));
    for (const path of [one, two, one, three]) await (await cache.open(path)).release();
    expect(cache.entries().map(({ name }) => name)).toEqual([one, three]);
    await Promise.all([cache.close(), measured.close()]);
  });

  it('shows changed files to the next one that asks, and to nobody before', async () => {
    const path = knowledgeBase('changing');
    const { cache } = cacheOf();
    const old = await cache.open(path);
    write('changing-records.json', [...records(2), { id: 'new', text: 'Owls hunt at night' }]);
    const fresh = await cache.open(path);
    const found = async ({ knowledgeBase }: typeof old, text: string) =>
      (await knowledgeBase.search({ mode: 'lexical', text })).hits.map(({ id, text }) => [id, text]);
    expect(await found(old, 'sourdough')).toEqual([['r2', texts[2]]]);
    expect(await found(old, 'owls')).toEqual([]);
    expect(await found(fresh, 'owls')).toEqual([['new', 'Owls hunt at night']]);
    await old.release();
    expect(old.knowledgeBase.storage.closed).toBe(true);
    await fresh.release();
    expect(fresh.knowledgeBase.storage.closed).toBe(false);
    await cache.close();
  });

  it('gives up a load when the one that wanted it is gone, and says what is wrong with files', async () => {
    const path = knowledgeBase('abandoned');
    const { cache } = cacheOf();
    const signal = AbortSignal.abort(new Error('gone'));
    await expect(cache.open(path, { signal })).rejects.toThrow('gone');
    await rejection(cache.open(file('absent.json')), 'NOT_FOUND');
    writeFileSync(file('abandoned-records.json'), '[');
    await rejection(cache.open(path), 'CORRUPT');
    expect(cache.entries()).toEqual([]);
    knowledgeBase('abandoned');
    await (await cache.open(path)).release();
    await cache.close();
  });
});
