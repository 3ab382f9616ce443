import { chmodSync, mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, it } from 'vitest';
import type { ServerFrame } from '../../src/agents/wire/frames.js';
import { connect } from '../../src/client/index.js';
import type { ServerConfig } from '../../src/config/schema.js';
import { temporaryFolder } from '../helpers/folder.js';
import type { RawClient } from './raw-client.js';
import { catalogPath, TestServer } from './test-server.js';

const file = temporaryFolder();

function write(path: string, content: unknown): void {
  mkdirSync(dirname(file(path)), { recursive: true });
  writeFileSync(file(path), typeof content === 'string' ? content : JSON.stringify(content));
}

const records = Array.from({ length: 20 }, (_, index) => ({ id: `r${index}`, text: `Bees dance ${index}.` }));
const kb = { embedding_model: 'tiny', records_file: 'records.json' };

/** Configs that nothing can be made of, by what is wrong with them. */
function plantFaults(): string[] {
  const faults: Record<string, unknown> = {
    'not-json': '{',
    'not-utf8': '',
    'no-fields': {},
    'unknown-model': { ...kb, embedding_model: 'tinny' },
    'damaged-model': { ...kb, embedding_model: 'damaged' },
    'absent-model': { ...kb, embedding_model: 'absent' },
    'absent-records': { ...kb, records_file: 'never-there.json' },
    'records-are-a-folder': { ...kb, records_file: 'folder' },
    'records-outside': { ...kb, records_file: 'out.json' },
    'records-absolute': { ...kb, records_file: file('outside.json') },
    'sidecar-absolute': { ...kb, bm25_file: file('deep/root/kb/kb.bm25') },
    'records-damaged': { ...kb, records_file: 'damaged.json' },
    'records-without-text': { ...kb, records_file: 'textless.json' },
    'records-empty': { ...kb, records_file: 'empty.json' },
    'records-locked': { ...kb, records_file: 'locked.json' },
    'records-too-long': { ...kb, records_file: 'long.json' },
    'index-absent': { ...kb, index_file: 'never-there.index' },
    'index-damaged': { ...kb, index_file: 'damaged.index' },
    'index-of-others': { ...kb, index_file: 'records.json' },
    'index-empty': { ...kb, index_file: 'empty.index' },
    'same-files': { ...kb, embeddings_file: 'records.json' },
    'sidecar-is-a-folder': { ...kb, bm25_file: 'folder' },
    'sidecar-is-another': { ...kb, bm25_file: 'damaged.json' },
    'missing-field': { ...kb, fields: [{ name: 'year', type: 'int' }] },
  };
  const others: Record<string, unknown> = {
    'records.json': records,
    'damaged.json': '[{"id":"a","text":"b"}',
    'textless.json': [{ id: '/a/b' }],
    'empty.json': '',
    'locked.json': records,
    'long.json': [{ id: 'a', text: 'bees '.repeat(5000) }],
    'damaged.index': `LKINDEX${'x'.repeat(4000)}`,
    'empty.index': '',
    'bad-pattern.txt': '(',
    'only-comments.txt': '# nothing',
  };
  for (const [name, content] of Object.entries(others)) write(`deep/root/kb/${name}`, content);
  for (const [name, content] of Object.entries(faults)) write(`deep/root/kb/${name}.json`, content);
  writeFileSync(file('deep/root/kb/not-utf8.json'), Buffer.from([0xff, 0xfe, 0x00]));
  write('outside.json', records);
  mkdirSync(file('deep/root/kb/folder'), { recursive: true });
  symlinkSync(file('outside.json'), file('deep/root/kb/out.json'));
  writeFileSync(file('deep/root/kb/huge.txt'), '');
  truncateSync(file('deep/root/kb/huge.txt'), 2 ** 22);
  return Object.keys(faults);
}

/** Sends requests that end in errors about files. Gives every frame that came back. */
async function provoke(
  raw: RawClient,
  folder: string,
  base: string,
  names: readonly string[],
): Promise<ServerFrame[]> {
  const frames: ServerFrame[] = [];
  let id = 0;
  const ask = async (type: string, fields: object) => {
    const frame = await raw.request<never>({ type, id: ++id, ...fields });
    frames.push(frame);
    return frame as unknown as { session_id: string };
  };
  const { session_id } = await ask('CreateSessionRequest', { storage_data_folder: folder });
  const graph = (type: string, params: object) => ({
    session_id,
    graph: { nodes: [{ id: 'n', type, params }] },
  });
  for (const name of names) {
    const config_path = `${base}${name}.json`;
    await ask('CreateEmbeddedStringStorageRequest', { session_id, name, config_path });
    await ask('SearchEmbeddedStringStorageRequest', { session_id, name: config_path, text: 'bees' });
    await ask('CreateAgentRequest', graph('retrieve', { embedded_string_storage: config_path }));
  }
  for (const text of [
    'bad-pattern.txt',
    'only-comments.txt',
    'huge.txt',
    'folder',
    'never',
    'out.json',
    'not-utf8.json',
  ])
    for (const type of ['canned_response', 'regex_guardrail'])
      await ask('CreateAgentRequest', graph(type, { string_storage: `${base}${text}` }));
  for (const type of ['canned_response', 'regex_guardrail']) await ask('CreateAgentRequest', graph(type, {}));
  await ask('CreateSessionRequest', { storage_data_folder: `${base}../../..` });
  await ask('CreateSessionRequest', { storage_data_folder: '/etc' });
  return frames;
}

it('no frame about a file has a path that the client did not send', async () => {
  const names = plantFaults();
  chmodSync(file(), 0o755);
  chmodSync(file('deep/root/kb/locked.json'), 0);
  const config: Partial<ServerConfig> = {
    storage_root: file('deep/root'),
    default_canned_responses_path: file('deep/absent.txt'),
    default_guardrail_patterns_path: file('deep/root/kb/bad-pattern.txt'),
  };
  const server = await TestServer.start({ config });
  const secrets = [file(), dirname(catalogPath), dirname(file())];
  const roots: [folder: string, base: string][] = [
    ['', 'kb/'],
    ['kb', ''],
    ['/', `${file('deep/root/kb').slice(1)}/`],
  ];
  for (const [folder, base] of roots) {
    const frames = await provoke(await server.raw(), folder, base, names);
    const errors = frames.filter(({ type }) => type === 'Error') as { message: string }[];
    expect(errors.length).toBeGreaterThan(names.length * 2);
    for (const frame of frames) {
      const text = JSON.stringify(frame);
      for (const secret of secrets) expect(text, text).not.toContain(secret);
      expect(text, text).not.toMatch(/\/proc\/self|(?:^|[\s:(])\/[a-z]+\/[a-z]/);
    }
  }
  chmodSync(file('deep/root/kb/locked.json'), 0o644);
});

it('what many clients load at once tells each of them no path of another', async () => {
  write('twice/a/kb/kb.json', kb);
  write('twice/a/kb/records.json', '[{"id":"a","text":"b"}');
  const server = await TestServer.start({ config: { storage_root: file('twice') } });
  await using client = await connect({ port: server.port });
  const folders = ['a', 'a/kb', file('twice/a'), ''];
  const configs = ['kb/kb.json', 'kb.json', 'kb/kb.json', 'a/kb/kb.json'];
  const sessions = await Promise.all(
    folders.map((folder) => client.createSession({ storageDataFolder: folder })),
  );
  const told = await Promise.allSettled(
    sessions.map((session, index) =>
      session.createEmbeddedStringStorage({ name: 'docs', configPath: configs[index] as string }),
    ),
  );
  for (const outcome of told) {
    expect(outcome.status).toBe('rejected');
    const { code, message, details } = (outcome as PromiseRejectedResult).reason;
    expect(code).toBe(8003);
    expect(JSON.stringify([message, details])).not.toContain(file());
  }
  rmSync(file('twice'), { recursive: true });
});
