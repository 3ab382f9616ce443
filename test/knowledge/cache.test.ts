import { linkSync, readFileSync, realpathSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { EmbeddingModel, LorekeepError, Storage } from '../../lib/index.js';
import { type ConfigPlace, KnowledgeBaseCache, openKnowledgeBase } from '../../src/knowledge/index.js';
import { plainPlace } from '../../src/knowledge/paths.js';
import { rejection } from '../helpers/errors.js';
import { temporaryFolder } from '../helpers/folder.js';
import { createTinyModel } from '../helpers/tiny-model/tiny-model.mjs';

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
    expect(pins[0]?.value).toBe(pins[1]?.value);
    const third = pins[0]?.share();
    for (const pin of [...pins, third]) await pin?.release();
    expect(cache.entries()).toEqual([
      { name: path, state: 'OnDemand', pins: 0, bytes: cache.bytes, records: 3, dimension: 64 },
    ]);
    expect(cache.bytes).toBeGreaterThan(0);
    {
      await using again = await cache.open(path);
      const { hits } = await again.value.search({ mode: 'lexical', text: 'glaciers' });
      expect(hits.map(({ id }) => id)).toEqual(['r1']);
    }
    await cache.close();
    expect([cache.size, told]).toEqual([0, [`storage loaded ${path}`, `storage closed ${path}`]]);
  });

  it('ends a load in the background when it is closed', async () => {
    const path = knowledgeBase('refreshed', 2);
    const { cache } = cacheOf();
    await (await cache.open(path)).release();
    write('refreshed-records.json', records(3));
    const assemble = vi.spyOn(Storage, 'fromRecords').mockImplementation(
      (_, __, ___, options) =>
        new Promise((_, reject) => {
          options?.signal?.addEventListener('abort', () => reject(options.signal?.reason));
        }),
    );
    onTestFinished(() => assemble.mockRestore());
    await using stale = await cache.open(path, { stale: 'serve' });
    expect(stale.value.size).toBe(2);
    await vi.waitFor(() => expect(assemble).toHaveBeenCalled());
    await cache.close();
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

  it('closes the least recently used storage that nobody holds when memory is wanted', async () => {
    const [one, two, three] = [knowledgeBase('one'), knowledgeBase('two'), knowledgeBase('three')];
    const measured = cacheOf().cache;
    await (await measured.open(one)).release();
    const { cache } = cacheOf(Math.ceil(measured.bytes * 2.5));
    for (const path of [one, two, one, three]) await (await cache.open(path)).release();
    expect(cache.entries().map(({ name }) => name)).toEqual([one, three]);
    await Promise.all([cache.close(), measured.close()]);
  });

  it('shows changed files to the next open(), and to nobody before', async () => {
    const path = knowledgeBase('changing');
    const { cache } = cacheOf();
    const old = await cache.open(path);
    write('changing-records.json', [...records(2), { id: 'new', text: 'Owls hunt at night' }]);
    const fresh = await cache.open(path);
    const found = async ({ value }: typeof old, text: string) =>
      (await value.search({ mode: 'lexical', text })).hits.map(({ id, text }) => [id, text]);
    expect(await found(old, 'sourdough')).toEqual([['r2', texts[2]]]);
    expect(await found(old, 'owls')).toEqual([]);
    expect(await found(fresh, 'owls')).toEqual([['new', 'Owls hunt at night']]);
    await old.release();
    expect(old.value.storage.closed).toBe(true);
    await fresh.release();
    expect(fresh.value.storage.closed).toBe(false);
    await cache.close();
  });

  it('reads the config of an unchanged one no more, and looks again when a file or a link on the way is another', async () => {
    const path = knowledgeBase('places');
    symlinkSync(path, file('places-link.json'));
    const { cache, told } = cacheOf();
    let opened = 0;
    const place = (config: string): ConfigPlace => ({
      key: config,
      open: async () => {
        opened++;
        const real = realpathSync(config);
        return { ...(await plainPlace(real).open()), links: new Map([[config, real]]) };
      },
    });
    const opens = async (config: string) => {
      opened = 0;
      await (await cache.openPlace(place(config))).release();
      return opened;
    };
    const link = file('places-link.json');
    expect([await opens(path), await opens(path), await opens(link), await opens(link)]).toEqual([
      1, 0, 1, 0,
    ]);
    writeFileSync(file('places-records.json'), JSON.stringify(records(2)));
    expect([await opens(path), await opens(path), await opens(link)]).toEqual([1, 0, 1]);
    writeFileSync(path, `${readFileSync(path, 'utf8')}\n`);
    expect([await opens(path), await opens(path)]).toEqual([1, 0]);
    // Another name of the same file may lead to other records. Linking it also changes its time of change: it is loaded again.
    linkSync(path, file('places-twin.json'));
    unlinkSync(link);
    symlinkSync(file('places-twin.json'), link);
    expect([await opens(link), await opens(link)]).toEqual([1, 0]);
    unlinkSync(path);
    await rejection(cache.open(path), 'NOT_FOUND');
    expect(told.filter((line) => line.startsWith('storage loaded'))).toHaveLength(4);
    await cache.close();
  });

  it('finds a base that its own process has merged, and one that another process has', async () => {
    const path = knowledgeBase('merged');
    const { cache, told } = cacheOf();
    await using pin = await cache.open(path);
    const kb = pin.value;
    await kb.add([{ id: 'owl', text: 'An owl sleeps' }]);
    await kb.merge();
    {
      await using again = await cache.open(path);
      expect(again.value).toBe(kb);
      expect(kb.outdated).toBe(false);
    }
    // During the merge, too.
    await kb.add([{ id: 'eel', text: 'An eel swims' }]);
    const merging = kb.merge();
    const during: unknown[] = [];
    let done = false;
    const asking = (async () => {
      while (!done) {
        await using other = await cache.open(path);
        during.push(other.value);
        await new Promise((resolve) => setImmediate(resolve));
      }
    })();
    await merging;
    done = true;
    await asking;
    expect(new Set(during)).toEqual(new Set([kb]));
    await kb.changes.letGo();
    await using writer = await openKnowledgeBase(path, { models: async () => ({ model }) });
    await writer.add([{ id: 'fox', text: 'A fox runs' }]);
    await writer.merge();
    await vi.waitFor(() => expect([kb.version, kb.outdated]).toEqual([3, false]), { timeout: 10_000 });
    await using last = await cache.open(path);
    expect(last.value).toBe(kb);
    expect(told.filter((line) => line.startsWith('storage loaded'))).toHaveLength(1);
    await cache.close();
  });

  it('keeps the model ready while one is held, and while one is loaded', async () => {
    let holds = 0;
    const held: number[] = [];
    const hold = () => {
      held.push(++holds);
      return () => void holds--;
    };
    const lease = async () => ({ model, [Symbol.dispose]: () => {} });
    const cache = new KnowledgeBaseCache({ models: async () => ({ facts: model.facts, hold, lease }) });
    const pin = await cache.open(knowledgeBase('holding'));
    expect([holds, held[0]]).toEqual([1, 1]);
    const other = pin.share();
    await pin.release();
    await pin.release();
    expect(holds).toBe(1);
    await other.release();
    expect(holds).toBe(0);
    await cache.close();
  });

  it('gives up a load when its last caller is gone, and says what is wrong with files', async () => {
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
