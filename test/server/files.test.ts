import { mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type FilterExpression, Storage } from '../../lib/index.js';
import { silentLog } from '../../src/log/log.js';
import { Catalog } from '../../src/models/catalog.js';
import { CatalogModels } from '../../src/models/catalog-models.js';
import { KnowledgeBaseStorages } from '../../src/storages/knowledge-base-storages.js';
import { StorageRoot } from '../../src/storages/storage-root.js';
import { refusal } from '../helpers/errors.js';
import { temporaryFolder } from '../helpers/folder.js';
import { corpus } from './corpus.js';
import { catalogPath, retrieveGraph, TestServer } from './test-server.js';

const file = temporaryFolder();
const records = corpus.map(({ text }, index) => ({
  id: `r${index}`,
  text,
  metadata: { year: 2000 + index },
}));
const config = {
  embedding_model: 'tiny',
  records_file: 'records.json',
  bm25_file: 'kb.bm25',
  fields: [{ name: 'year', type: 'int', optional: true }],
};
const root = () => file('root');

function write(path: string, content: unknown): void {
  mkdirSync(dirname(file(path)), { recursive: true });
  writeFileSync(file(path), typeof content === 'string' ? content : JSON.stringify(content));
}

beforeAll(() => {
  write('root/kb/kb.json', config);
  write('root/kb/records.json', records);
  write('outside/kb.json', config);
  write('outside/records.json', records.slice(0, 2));
  symlinkSync(file('outside/kb.json'), file('root/link.json'));
  symlinkSync(file('outside/kb.json'), file('root/link'));
  write('root/folder.json/x', '');
});

const server = () => TestServer.start({ config: { storage_root: root() } });
const session = async () => (await server()).session();

describe('a storage from a config file', () => {
  it('is created under a name, searched by its words, and filtered', async () => {
    const client = await session();
    const made = await client.createEmbeddedStringStorage({ name: 'docs', configPath: 'kb/kb.json' });
    expect(made).toMatchObject({ recordCount: records.length, embeddingDim: 512 });
    const filter: FilterExpression = { '>=': [{ knowledge: 'year' }, { variable: 'since' }] };
    const found = await client.search({
      name: 'docs',
      text: corpus[0].question,
      filter,
      variables: { since: 2001, other: { ignored: true } },
      topK: 20,
    });
    expect(found.hits).toHaveLength(records.length - 1);
    expect(found.hits[0]?.metadata?.year).toBeGreaterThan(2000);
    await client.destroyEmbeddedStringStorage('docs');
    expect(await refusal(client.search({ name: 'docs', text: 'bee' }))).toMatchObject({ code: 8005 });
  });

  it('is named by a node or a search as a path, and takes the variables of each turn', async () => {
    const client = await session();
    const filter = { '==': [{ knowledge: 'year' }, { variable: 'year' }] };
    const params = { embedded_string_storage: 'kb/kb.json', filter, mode: 'hybrid' };
    const agent = await client.createAgent({ graph: retrieveGraph(params), enableDiagnostics: true });
    const complete = await agent.turn('why do bees dance?', { variables: { year: 2003 } });
    expect(complete).toMatchObject({
      status: 'completed',
      diagnostics: { nodes: [{ plan: { dense: { matched: 1 } } }] },
    });
    const without = await agent.turn('why do bees dance?');
    expect(without).toMatchObject({
      status: 'failed',
      error: { code: 4003, details: { path: 'graph.nodes[0].params.filter' } },
    });
    const found = await client.search({ name: 'kb/kb.json', text: corpus[1].question });
    expect(found.hits[0]?.id).toBe('r1');
  });

  it('compiles a filter once for all searches, turns and agents that give it', async () => {
    const client = await session();
    await client.createEmbeddedStringStorage({ name: 'docs', configPath: 'kb/kb.json' });
    const compiled = vi.spyOn(Storage.prototype, 'compileFilter');
    onTestFinished(() => compiled.mockRestore());
    const filter = (): FilterExpression => ({ '>=': [{ knowledge: 'year' }, 2001] });
    const search = (name: string) => client.search({ name, text: 'bees', filter: filter(), topK: 20 });
    const { hits } = await search('docs');
    expect(compiled).toHaveBeenCalledOnce();
    expect((await search('docs')).hits).toEqual(hits);
    expect((await search('kb/kb.json')).hits).toEqual(hits);
    for (const name of ['docs', 'kb/kb.json']) {
      const params = { embedded_string_storage: name, filter: filter() };
      const agent = await client.createAgent({ graph: retrieveGraph(params) });
      await agent.turn('bees');
      await agent.destroy();
    }
    expect((await search('docs')).hits).toEqual(hits);
    expect(compiled).toHaveBeenCalledOnce();
  });

  it('is looked for anew when its path or a file leads elsewhere than before, and refused outside', async () => {
    write('root/moved/kb.json', config);
    write('root/moved/records.json', records);
    const client = await session();
    const search = () => client.search({ name: 'moved/kb.json', text: 'bees', topK: 20 });
    expect((await search()).hits).toHaveLength(records.length);
    const swap = (name: string) => {
      renameSync(file(`root/moved/${name}`), file(`root/moved/old-${name}`));
      symlinkSync(file(`outside/${name}`), file(`root/moved/${name}`));
    };
    const restore = (name: string) => renameSync(file(`root/moved/old-${name}`), file(`root/moved/${name}`));
    for (const name of ['kb.json', 'records.json']) {
      swap(name);
      expect(await refusal(search())).toMatchObject({ code: 3009 });
      restore(name);
      expect((await search()).hits).toHaveLength(records.length);
    }
    write('root/moved/records.json', records.slice(0, 3));
    expect((await search()).hits).toHaveLength(3);
  });

  it('is named without a slash or an extension, where no storage has that name', async () => {
    write('root/plain', { ...config, records_file: 'kb/records.json', bm25_file: 'plain.bm25' });
    write('root/my kb', { ...config, records_file: 'kb/records.json', bm25_file: 'plain.bm25' });
    const client = await session();
    for (const name of ['plain', 'my kb']) {
      const agent = await client.createAgent({ graph: retrieveGraph({ embedded_string_storage: name }) });
      expect((await agent.turn('why do bees dance?')).status).toBe('completed');
    }
    expect((await client.search({ name: 'plain', text: 'bees' })).hits).not.toEqual([]);
    const strings = ['A storage of the session goes before a file.'];
    await client.createEmbeddedStringStorage({ name: 'plain', strings, embeddingModel: 'tiny' });
    const { hits } = await client.search({ name: 'plain', text: 'a storage' });
    expect(hits.map(({ text }) => text)).toEqual(strings);
    expect(await refusal(client.search({ name: 'plan', text: 'bees' }))).toMatchObject({
      code: 8005,
      details: { nearest: 'plain' },
    });
    const outside = await refusal(client.search({ name: 'link', text: 'bees' }));
    expect(outside).toMatchObject({ code: 3009 });
  });

  it('starts at the folder that the session brings', async () => {
    const client = await (await server()).connect();
    const own = await client.createSession({ storageDataFolder: file('outside') });
    expect(await own.createEmbeddedStringStorage({ name: 'docs', configPath: 'kb.json' })).toMatchObject({
      recordCount: 2,
    });
    const relative = await client.createSession({ storageDataFolder: 'kb' });
    expect(await relative.createEmbeddedStringStorage({ name: 'docs', configPath: 'kb.json' })).toMatchObject(
      { recordCount: records.length },
    );
    const absent = await client.createSession({ storageDataFolder: file('absent') });
    const error = await refusal(absent.createEmbeddedStringStorage({ name: 'docs', configPath: 'kb.json' }));
    expect(error).toMatchObject({ code: 3010 });
  });

  it.each([
    ['/etc/passwd.json', 3009],
    ['C:\\kb.json', 3009],
    ['../outside/kb.json', 3009],
    ['kb/../../outside/kb.json', 3009],
    ['link.json', 3009],
    ['kb/absent.json', 3010],
    ['folder.json', 3010],
    ['kb/../kb/kb.jso', 3010],
    ['..\\outside\\kb.json', 3009],
    ['kb\\..\\..\\outside/kb.json', 3009],
    ['C:kb.json', 3009],
    ['\\\\host\\share\\kb.json', 3009],
    ['%2e%2e/outside/kb.json', 3009],
    ['%252e%252e%252foutside%2fkb.json', 3009],
    ['%2Fetc%2Fpasswd.json', 3009],
    ['kb/kb.json\0.json', 3009],
    ['kb/%6bb.json', 3010],
    ['..', 3009],
    ['..\\outside', 3009],
    ['C:outside', 3009],
    ['\\\\host\\share', 3009],
    ['%2e%2e', 3009],
    ['kb\\kb', 3010],
  ])('is refused at %j with %i', async (path, code) => {
    const client = await session();
    const made = await refusal(client.createEmbeddedStringStorage({ name: 'docs', configPath: path }));
    expect(made).toMatchObject({ code, details: { path: 'config_path' } });
    const graph = retrieveGraph({ embedded_string_storage: path });
    expect(await refusal(client.createAgent({ graph }))).toMatchObject({ code });
  });

  it('is refused at a path that hides another under very many encodings, and at any length', async () => {
    const client = await session();
    const paths: [string, number][] = [
      ['%2e%2e/'.repeat(500), 3009],
      [`%${'25'.repeat(2000)}2e/kb.json`, 3010],
      [`%${'25'.repeat(1_000_000)}2e/kb.json`, 3010],
      ['kb/'.repeat(1_000_000), 3010],
    ];
    for (const [path, code] of paths) {
      const made = client.createEmbeddedStringStorage({ name: 'docs', configPath: path });
      const error = await refusal(made);
      expect([error.code, error.message.length < 1000]).toEqual([code, true]);
    }
  });

  it.each([
    ['{', undefined, 'not valid JSON'],
    [{ ...config, records_file: 'absent.json' }, undefined, 'records_file: there is no file'],
    [
      { ...config, index_file: 'absent.index' },
      undefined,
      'index_file: there is no file "absent.index"; lorekeep build',
    ],
    [{ ...config, embedding_model: 'tinny' }, undefined, 'did you mean "tiny"'],
    [{ ...config, fields: [{ name: 'year', type: 'int' }] }, undefined, 'fields[0]'],
    [config, '[]', 'at least one record'],
    [config, '[{"id":"a"}]', 'bad/records.json:1: record 0 ("a"): text'],
    [config, '[{"id":"a","text":"b"}', 'a comma or ]'],
    [{ ...config, index_file: 'records.json' }, '[{"id":"a","text":"b"}]', 'records.json'],
  ])('is refused with 8003 for what is in the files: %j %j', async (settings, content, reason) => {
    write('root/bad/kb.json', settings);
    write('root/bad/records.json', content ?? records);
    const client = await session();
    const error = await refusal(
      client.createEmbeddedStringStorage({ name: 'docs', configPath: 'bad/kb.json' }),
    );
    expect(error).toMatchObject({ code: 8003, message: expect.stringContaining(reason) });
    expect(JSON.stringify([error.message, error.details])).not.toContain(root());
    await client.createEmbeddedStringStorage({
      name: 'docs',
      strings: ['the name is free'],
      embeddingModel: 'tiny',
    });
  });

  it('is refused with 3009 when its config names what is outside', async () => {
    symlinkSync(file('outside/records.json'), file('root/kb/linked.json'));
    const client = await session();
    for (const change of [
      { records_file: '../../outside/records.json' },
      { records_file: 'linked.json' },
      { records_file: file('root/kb/records.json') },
      { index_file: '../../outside/x.index' },
      { bm25_file: '../../outside/x.bm25' },
    ]) {
      write('root/kb/out.json', { ...config, ...change });
      const error = await refusal(
        client.createEmbeddedStringStorage({ name: 'docs', configPath: 'kb/out.json' }),
      );
      const [field] = Object.keys(change);
      expect(error).toMatchObject({
        code: 3009,
        message: expect.stringMatching(`^config_path: "kb/out.json": ${field}: .* leaves the storage root`),
        details: { path: 'config_path', file: 'kb/out.json', field },
      });
    }
  });
});

describe('storages from files in one process', () => {
  async function storages(maxBytes?: number) {
    await TestServer.start();
    const models = new CatalogModels(await Catalog.load(catalogPath));
    const files = new KnowledgeBaseStorages({
      models,
      log: silentLog(),
      maxBytes,
      growth: () => ({ all: 0, client: 0 }),
    });
    const pin = (path: string, signal = new AbortController().signal) =>
      files.pin(path, 'config_path', new StorageRoot(root()), { signal });
    return { files, models, pin };
  }

  const states = (files: KnowledgeBaseStorages) => files.cache.entries().map(({ state }) => state);

  it('are loaded once for all that ask, and kept for the next when the last lets go', async () => {
    const { files, models, pin } = await storages();
    const pins = await Promise.all(Array.from({ length: 8 }, () => pin('kb/kb.json')));
    expect(new Set(pins.map(({ value }) => value)).size).toBe(1);
    const later = await pin('kb/../kb/kb.json');
    expect(later.value).toBe(pins[0]?.value);
    for (const held of pins) await held.release();
    expect([states(files), later.value.storage.closed]).toEqual([['Pinned'], false]);
    await later.release();
    expect([states(files), later.value.storage.closed]).toEqual([['OnDemand'], false]);
    const next = await pin('kb/kb.json');
    expect(next.value).toBe(later.value);
    await next.release();
    await files.close();
    expect([states(files), later.value.storage.closed]).toEqual([[], true]);
    await models.close();
  });

  it('are closed when nobody holds them and their memory is wanted', async () => {
    const { files, models, pin } = await storages(1);
    const [held, other] = [await pin('kb/kb.json'), await pin('kb/kb.json')];
    await held.release();
    expect(other.value.storage.closed).toBe(false);
    await other.release();
    expect([states(files), other.value.storage.closed]).toEqual([[], true]);
    await models.close();
  });

  it('are loaded anew when a file has changed, beside the held ones', async () => {
    const { models, pin } = await storages();
    write('root/changing/kb.json', config);
    write('root/changing/records.json', records);
    const old = await pin('changing/kb.json');
    write('root/changing/records.json', records.slice(0, 5));
    const fresh = await pin('changing/kb.json');
    expect([old.value.size, fresh.value.size]).toEqual([records.length, 5]);
    await Promise.all([old.release(), fresh.release()]);
    expect(readFileSync(file('root/changing/kb.bm25')).length).toBeGreaterThan(0);
    await models.close();
  });

  it('are given up when nobody waits for them any more, and a failed load is tried again', async () => {
    const { files, models, pin } = await storages();
    const [first, second] = [new AbortController(), new AbortController()];
    const waiting = [pin('kb/kb.json', first.signal), pin('kb/kb.json', second.signal)];
    const outcomes = Promise.allSettled(waiting);
    first.abort(new Error('gone'));
    second.abort(new Error('gone'));
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await expect.poll(() => states(files)).toEqual([]);
    await (await pin('kb/kb.json')).release();
    await files.close();
    await models.close();
  });
});
