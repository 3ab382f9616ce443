import { copyFileSync, mkdtempSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { EmbeddingModel } from '../../lib/index.js';
import type { KnowledgeModel } from '../../src/knowledge/index.js';
import { embedQuery } from '../../src/knowledge/model.js';
import { Catalog } from '../../src/models/catalog.js';
import { CatalogModels } from '../../src/models/catalog-models.js';
import { Residency } from '../../src/models/residency.js';
import { temporaryFolder } from '../helpers/folder.js';
import { createTinyModel } from '../helpers/tiny-model/tiny-model.mjs';
import { strings } from './corpus.js';
import { catalogPath, retrieveGraph, TestServer } from './test-server.js';

const inFolder = temporaryFolder();
const signal = new AbortController().signal;
const idleMs = 60_000;

const embed = async (model: KnowledgeModel) => (await embedQuery(model, 'bees', signal)).vectors;

/** Models of a catalog of their own, with the file of the test server's. */
async function open(variant: object = {}) {
  await TestServer.start();
  const folder = mkdtempSync(inFolder('models-'));
  const file = join(folder, 'tiny.gguf');
  copyFileSync(join(dirname(catalogPath), 'tiny.gguf'), file);
  const model = { name: 'tiny', model_type: 'embedding', variants: [{ file: 'tiny.gguf', ...variant }] };
  writeFileSync(join(folder, 'models.json'), JSON.stringify({ version: 1, models: [model] }));
  const catalog = await Catalog.load(join(folder, 'models.json'));
  const residency = new Residency(catalog, { log: { info() {}, error() {} } });
  const models = new CatalogModels(catalog, { idleMs, defaultContext: 32, threads: 1 }, residency);
  onTestFinished(() => models.close());
  const loads = vi.spyOn(EmbeddingModel, 'load');
  onTestFinished(() => loads.mockRestore());
  return { models, loads, file, isInMemory: () => residency.inMemory.length > 0 };
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true }));
afterEach(() => void vi.useRealTimers());

describe('an embedding model', () => {
  it('is loaded once, however many want it at the same time', async () => {
    const { models, loads } = await open();
    const wanted = await Promise.all(Array.from({ length: 20 }, () => models.resolve('tiny')));
    expect(new Set(wanted).size).toBe(1);
    // @ts-expect-error only a lease has the model
    expect(wanted[0]?.model).toBeUndefined();
    expect(loads).toHaveBeenCalledOnce();
  });

  it('stays while it is held, goes when nothing has used it for a while, and comes back once', async () => {
    const { models, loads, isInMemory } = await open();
    const model = await models.resolve('tiny');
    const release = model.hold();
    vi.advanceTimersByTime(10 * idleMs);
    expect(isInMemory()).toBe(true);
    release();
    vi.advanceTimersByTime(idleMs - 1);
    expect(isInMemory()).toBe(true);
    const before = await embed(model);
    vi.advanceTimersByTime(idleMs - 1);
    expect(isInMemory()).toBe(true);
    vi.advanceTimersByTime(1);
    expect(isInMemory()).toBe(false);
    const after = await Promise.all(Array.from({ length: 10 }, () => embed(model)));
    expect(loads).toHaveBeenCalledTimes(2);
    for (const vector of after) expect(vector).toEqual(before);
    vi.advanceTimersByTime(idleMs);
    expect(isInMemory()).toBe(false);
    expect(await models.resolve('tiny')).toBe(model);
    expect(isInMemory()).toBe(true);
  });

  it('whose file has changed meanwhile is refused to those who have the old one, and new to all others', async () => {
    const { models, file } = await open();
    const old = await models.resolve('tiny');
    vi.advanceTimersByTime(idleMs);
    await createTinyModel({
      texts: strings.slice(0, 3),
      path: file,
      dimension: old.dimension,
      contextSize: 64,
    });
    await expect(embed(old)).rejects.toMatchObject({ code: 'CORRUPT', why: 'CHANGED' });
    const fresh = await models.resolve('tiny');
    expect(fresh).not.toBe(old);
    await expect(embed(old)).rejects.toMatchObject({ why: 'CHANGED' });
    expect(await models.resolve('tiny')).toBe(fresh);
    expect(fresh.facts.fingerprint).not.toBe(old.facts.fingerprint);
  });

  it("has the catalog's context, else the config's, and never more than its own", async () => {
    const context = async (variant: object) => {
      const { models } = await open(variant);
      return (await models.resolve('tiny')).facts.contextSize;
    };
    expect(await context({})).toBe(32);
    expect(await context({ context_size: 48 })).toBe(48);
    expect(await context({ context_size: 4096 })).toBe(64);
  });

  it('is not loaded before somebody needs it, and stays as long as an agent holds a storage', async () => {
    const loads = vi.spyOn(EmbeddingModel, 'load');
    onTestFinished(() => loads.mockRestore());
    const server = await TestServer.start({ config: { embedding_model_idle_timeout: 60 } });
    const session = await server.session();
    expect(loads).not.toHaveBeenCalled();
    await session.createEmbeddedStringStorage({ name: 'docs', strings, embeddingModel: 'tiny' });
    const agent = await session.createAgent({ graph: retrieveGraph() });
    vi.advanceTimersByTime(10 * idleMs);
    expect((await agent.turn('bees')).status).toBe('completed');
    expect(loads).toHaveBeenCalledOnce();
    await session.destroy();
    vi.advanceTimersByTime(idleMs);
    const next = await server.session();
    await next.createEmbeddedStringStorage({ name: 'docs', strings, embeddingModel: 'tiny' });
    expect(loads).toHaveBeenCalledTimes(2);
  });
});
