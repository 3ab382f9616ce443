import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ServerFrame } from '../../src/agents/wire/frames.js';
import { buildKnowledgeBase } from '../../src/knowledge/index.js';
import { CatalogModels } from '../../src/models/catalog-models.js';
import { temporaryFolder } from '../helpers/folder.js';
import type { RawClient } from './raw-client.js';
import { catalogPath, TestServer } from './test-server.js';

// Every folder of the server's has the canary in its path, and no client sends it. So no frame may have it.
const canary = 'canary-7f3a';
const file = temporaryFolder();
const inCanary = (...names: string[]) => file(canary, ...names);

/** What may be wrong with a file, for a path with a whole file. */
const states: Readonly<Record<string, (path: string) => void>> = {
  absent: (path) => rmSync(path),
  empty: (path) => truncateSync(path),
  short: (path) => truncateSync(path, Math.floor(readFileSync(path).length / 2)),
  'other content': (path) => writeFileSync(path, `x ${inCanary('content')}`),
  'flipped bytes': (path) =>
    writeFileSync(
      path,
      readFileSync(path).map((byte) => byte ^ 0x55),
    ),
  'a folder': (path) => {
    rmSync(path);
    mkdirSync(path);
  },
  'a dangling link': (path) => relink(path, 'nothing'),
  'a link to itself': (path) => relink(path, basename(path)),
  'a link to the outside': (path) => {
    copyFileSync(path, inCanary('outside'));
    relink(path, inCanary('outside'));
  },
  'a pipe': (path) => {
    rmSync(path);
    execFileSync('mkfifo', [path]);
  },
  unreadable: (path) => chmodSync(path, 0),
  'below a file': (path) => {
    const folder = dirname(path);
    rmSync(folder, { recursive: true });
    writeFileSync(folder, 'a file');
  },
  'in a sealed folder': (path) => chmodSync(dirname(path), 0),
};

function relink(path: string, target: string): void {
  rmSync(path);
  symlinkSync(target, path);
}

/** The files of the knowledge base, each in a folder of its own. */
const parts = {
  config: 'config/kb.json',
  records: 'records/kb.json',
  index: 'index/kb.index',
  sidecar: 'sidecar/kb.bm25',
  embeddings: 'embeddings/kb.embeddings',
  list: 'list/list.txt',
} as const;

const whole = inCanary('whole');

async function makeWhole(): Promise<void> {
  for (const part of Object.values(parts)) mkdirSync(dirname(join(whole, part)), { recursive: true });
  const records = Array.from({ length: 30 }, (_, index) => ({
    id: `r${index}`,
    text: `Bees dance ${index}.`,
  }));
  writeFileSync(join(whole, parts.records), JSON.stringify(records));
  writeFileSync(join(whole, parts.list), 'bees');
  const config = {
    embedding_model: 'tiny',
    records_file: `../${parts.records}`,
    index_file: `../${parts.index}`,
    bm25_file: `../${parts.sidecar}`,
    embeddings_file: `../${parts.embeddings}`,
  };
  writeFileSync(join(whole, parts.config), JSON.stringify(config));
  await buildKnowledgeBase(join(whole, parts.config), { models: await CatalogModels.open(catalogPath) });
}

/** Asks for everything that reads the files below `base`. Returns the codes of the errors. */
async function provoke(raw: RawClient, folder: string, base: string): Promise<number[]> {
  const frames: ServerFrame[] = [];
  let id = 0;
  const ask = async (type: string, fields: object) => {
    const frame = await raw.request<never>({ type, id: ++id, ...fields });
    frames.push(frame);
    return frame as unknown as { session_id: string };
  };
  const { session_id } = await ask('CreateSessionRequest', { storage_data_folder: folder });
  const config_path = join(base, parts.config);
  const string_storage = join(base, parts.list);
  const graph = (type: string, params: object) => ({
    session_id,
    graph: { nodes: [{ id: 'n', type, params }] },
  });
  await ask('CreateEmbeddedStringStorageRequest', { session_id, name: 'docs', config_path });
  await ask('SearchEmbeddedStringStorageRequest', { session_id, name: config_path, text: 'bees' });
  await ask('CreateAgentRequest', graph('retrieve', { embedded_string_storage: config_path }));
  for (const type of ['canned_response', 'regex_guardrail']) {
    await ask('CreateAgentRequest', graph(type, { string_storage }));
    await ask('CreateAgentRequest', graph(type, {}));
  }
  await ask('StatusRequest', {});
  for (const frame of raw.received) expect(JSON.stringify(frame)).not.toContain(canary);
  return frames.flatMap((frame) => ('code' in frame ? [frame.code as number] : []));
}

function canReadProject(): boolean {
  try {
    readFileSync(import.meta.filename); // access() asks for the real user
    return true;
  } catch {
    return false;
  }
}

/** Runs as a user to whom permissions apply, as they do not to root; as root if that user cannot read this project. */
async function asNobody(run: () => Promise<void>): Promise<void> {
  if (process.getuid?.() !== 0) return run();
  process.seteuid?.(65534);
  if (!canReadProject()) {
    process.seteuid?.(0);
    return run();
  }
  try {
    await run();
  } finally {
    process.seteuid?.(0);
  }
}

const config = () => ({
  storage_root: inCanary('root'),
  models_catalog_path: catalogPath,
  models_download_dir: inCanary('downloads'),
  default_canned_responses_path: inCanary('root', 'kb', parts.list),
  default_guardrail_patterns_path: inCanary('absent', 'patterns.txt'),
});

describe.skipIf(process.platform === 'win32')('no frame has a path that the client did not send', () => {
  it.each(Object.keys(parts))('about the %s, whatever is wrong with the file', async (name) => {
    mkdirSync(inCanary('root'), { recursive: true });
    chmodSync(file(), 0o755);
    const server = await TestServer.start({ config: config() });
    if (name === 'config') await makeWhole();
    const kb = inCanary('root', 'kb');
    const path = join(kb, parts[name as keyof typeof parts]);
    let errors = 0;
    for (const [state, make] of Object.entries(states)) {
      cpSync(whole, kb, { recursive: true });
      make(path);
      await asNobody(async () => {
        for (const [folder, base] of [
          ['', 'kb'],
          ['kb', ''],
        ] as const) {
          const codes = await provoke(await server.raw(), folder, base);
          expect(codes, state).not.toContain(1009);
          errors += codes.length;
        }
      });
      if (state === 'in a sealed folder') chmodSync(dirname(path), 0o755);
      rmSync(kb, { recursive: true });
    }
    expect(errors).toBeGreaterThan(Object.keys(states).length);
  });

  it('about models, their folder and their downloads', async () => {
    await TestServer.start(); // makes the model
    chmodSync(file(), 0o755);
    mkdirSync(inCanary('models', '.models'), { recursive: true });
    const catalog = inCanary('models', 'models.json');
    const model = (name: string, model_type: string, file: string) => ({
      name,
      model_type,
      variants: [{ file }],
    });
    const whole = readFileSync(join(dirname(catalogPath), 'tiny.gguf'));
    const files: Record<string, (path: string) => void> = {
      damaged: (path) => writeFileSync(path, 'no model'),
      empty: (path) => writeFileSync(path, ''),
      short: (path) => writeFileSync(path, whole.subarray(0, whole.length / 2)),
      folder: (path) => mkdirSync(path),
      absent: () => {},
      sealed: (path) => {
        writeFileSync(path, whole);
        chmodSync(path, 0);
      },
      other: (path) => writeFileSync(path, whole),
    };
    const types = ['embedding', 'llm', 'reranker'];
    const models = Object.entries(files).flatMap(([name, make]) => {
      make(inCanary('models', name));
      return types.map((type) => model(`${name}-${type}`, type, name));
    });
    const far = {
      name: 'far',
      model_type: 'embedding',
      variants: [{ url: 'https://127.0.0.1:1/far.gguf', sha256: 'a'.repeat(64) }],
    };
    writeFileSync(catalog, JSON.stringify({ version: 1, models: [...models, far] }));
    const server = await TestServer.start({
      config: {
        models_catalog_path: catalog,
        models_download_dir: inCanary('models', '.models'),
        allow_model_pulls: true,
      },
    });
    await asNobody(async () => {
      const raw = await server.raw();
      let id = 0;
      const ask = (type: string, fields: object) => raw.request<never>({ type, id: ++id, ...fields });
      const { session_id } = (await ask('CreateSessionRequest', {})) as { session_id: string };
      const codes: number[] = [];
      const refused = async (type: string, fields: object) => {
        const frame = (await ask(type, { session_id, ...fields })) as { code?: number };
        if (frame.code !== undefined) codes.push(frame.code);
      };
      const graph = (type: string, params: object) => ({ graph: { nodes: [{ id: 'n', type, params }] } });
      for (const name of Object.keys(files)) {
        const strings = ['bees'];
        const storage = { name, strings, embedding_model: `${name}-embedding` };
        await refused('CreateEmbeddedStringStorageRequest', storage);
        await refused('CreateAgentRequest', graph('generate', { model: `${name}-llm` }));
        await refused('CreateAgentRequest', graph('rerank', { model: `${name}-reranker` }));
      }
      await refused('PullModelRequest', { model: 'far' });
      expect(codes.at(-1)).toBe(5008);
      await refused('ListModelsRequest', {});
      expect(codes.length).toBeGreaterThan(Object.keys(files).length);
      for (const frame of raw.received) expect(JSON.stringify(frame)).not.toContain(canary);
    });
  });
});
