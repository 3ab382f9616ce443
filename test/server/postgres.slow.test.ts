import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { EmbeddingModel } from '../../lib/index.js';
import { openKnowledgeBase, PostgresConnections } from '../../src/knowledge/index.js';
import { pushKnowledgeBase } from '../../src/knowledge/postgres/transfer.js';
import type { ServerFrames } from '../../src/protocol/frames.js';
import { lorekeep } from '../cli/command.js';
import { temporaryFolder } from '../helpers/folder.js';
import { testDatabase } from '../helpers/postgres.js';
import { corpus } from './corpus.js';
import { catalogPath, TestServer } from './test-server.js';

const file = temporaryFolder();
const database = testDatabase();
const records = corpus.map(({ text }, index) => ({ id: `r${index}`, text }));
const write = (name: string, value: unknown) => writeFileSync(file(name), JSON.stringify(value));

/** Pushes the corpus into a table. The model exists once a server has started. */
async function push(table: string): Promise<void> {
  write('records.json', records);
  write('kb.json', { embedding_model: 'tiny', records_file: 'records.json' });
  engine(table);
  await using model = await EmbeddingModel.load(catalogPath.replace('models.json', 'tiny.gguf'));
  await using connections = new PostgresConnections({ main: database.connection() });
  const options = { models: async () => model, connections, replace: true };
  await pushKnowledgeBase(file('kb.json'), file(`${table}.json`), options);
}

const engine = (table: string) =>
  write(`${table}.json`, {
    embedding_model: 'tiny',
    engine: { type: 'postgres', connection: 'main', table },
  });

async function session(config: object, more: object = {}) {
  const server = await TestServer.start({
    ...more,
    config: { storage_root: file(), connections: { main: database.connection() as never }, ...config },
  });
  const client = await server.raw();
  const { session_id } = await client.request<never>({ type: 'CreateSessionRequest', id: 's' });
  const create = { type: 'CreateEmbeddedStringStorageRequest', session_id, name: 'notes' };
  return { client, session_id, create: { ...create, id: 'create', config_path: 'notes.json' } };
}

it('clients search, cite, change and forget records in Postgres', async () => {
  const config = { storage_writes: 'files', session_folders: 'storage_root' };
  const { client, session_id, create } = await session(config);
  await push('notes');
  expect(await client.request(create)).toMatchObject({ record_count: records.length });
  const search = {
    type: 'SearchEmbeddedStringStorageRequest',
    session_id,
    name: 'notes',
    text: corpus[0]?.question,
  };
  const found = await client.request<ServerFrames['SearchEmbeddedStringStorageResponse']>({
    ...search,
    id: 'search',
  });
  expect(found.plan).toMatchObject({ engine: 'postgres', dense: { path: 'exact', matched: records.length } });
  expect(found.hits[0]?.id).toBe('r0');
  const graph = {
    nodes: [{ id: 'kb', type: 'retrieve', params: { embedded_string_storage: 'notes', emit: true } }],
  };
  await client.request({ type: 'CreateAgentRequest', id: 'agent', session_id, graph });
  client.send({
    type: 'TurnRequest',
    id: 'turn',
    session_id,
    agent_id: `${session_id}.a1`,
    text: corpus[0]?.question,
  });
  const ended = await client.next<ServerFrames['TurnComplete']>(({ type }) => type === 'TurnComplete');
  expect(ended.error).toBeUndefined();
  const change = { type: 'UpdateEmbeddedStringStorageRequest', session_id, name: 'notes' };
  const added = await client.request({ ...change, id: 'add', add: [{ id: 'new', text: 'bees in winter' }] });
  expect(added).toMatchObject({ version: 1, added: 1 });
  const forget = { type: 'ForgetEmbeddedStringStorageRequest', session_id, name: 'notes', ids: ['new'] };
  expect(await client.request({ ...forget, id: 'forget' })).toMatchObject({ version: 2 });
  expect(await database.run("select id from notes where id = 'new'")).toEqual([]);
});

it('a client is told that the database is away in our words, and the server goes on', async () => {
  const { client, create } = await session({
    connections: { main: { ...database.connection(), hosts: ['127.0.0.1:1'] } },
  });
  engine('notes');
  const reply = await client.request(create);
  expect(reply).toMatchObject({
    type: 'Error',
    code: 8003,
    message: expect.stringContaining('the connection "main": no server answers'),
  });
  expect(JSON.stringify(reply)).not.toMatch(/ECONN|127\.0\.0\.1/);
  expect(await client.request({ type: 'Ping', id: 'ping' })).toMatchObject({ type: 'Pong' });
});

it('a table that goes away is an error of the next search, without words of the database', async () => {
  const { client, session_id, create } = await session({});
  await push('short_lived');
  await client.request({ ...create, config_path: 'short_lived.json' });
  await database.run('drop table short_lived_base');
  const search = {
    type: 'SearchEmbeddedStringStorageRequest',
    session_id,
    name: 'notes',
    text: 'bees',
    id: 'search',
  };
  const reply = await client.request(search);
  expect(reply).toMatchObject({
    type: 'Error',
    code: 8003,
    message: expect.stringContaining('the table is absent'),
  });
  expect(JSON.stringify(reply)).not.toMatch(/short_lived_base|relation|select/);
});

it('a config that nobody named opens no connection', async () => {
  const { client, create } = await session({}, { configIsFound: true });
  engine('notes');
  expect(await client.request(create)).toMatchObject({
    type: 'Error',
    code: 8003,
    message: expect.stringContaining('connections count only in a server config that --config'),
  });
});

it('commands push, search, compare and pull with the connections of a named config alone', async () => {
  const config = { models_catalog_path: catalogPath, connections: { main: database.connection() } };
  write('server-config.json', config);
  engine('by_command');
  const named = ['--config', file('server-config.json')];
  const run = async (args: readonly string[]) => lorekeep(args, { cwd: file() });
  const pushed = await run(['push', 'kb.json', 'by_command.json', ...named]);
  expect(pushed).toMatchObject({ status: 0, stdout: expect.stringMatching(/^\d+ records pushed in /) });
  const again = await run(['push', 'kb.json', 'by_command.json', ...named]);
  expect(again).toMatchObject({ status: 1, stderr: expect.stringContaining('`lorekeep push --replace`') });
  const question = corpus[0]?.question as string;
  const found = await run(['search', 'by_command.json', question, '--json', ...named]);
  const { hits, plan } = JSON.parse(found.stdout) as { hits: { id: string }[]; plan: object };
  expect(hits[0]?.id).toBe('r0');
  expect(plan).toMatchObject({ engine: 'postgres' });
  const compared = await run(['check', 'by_command.json', '--against', 'kb.json', ...named]);
  expect(compared).toMatchObject({ status: 0, stdout: expect.stringMatching(/: ok\n$/) });
  expect(await run(['add', 'by_command.json', '--id', 'x', '--text', 'one more', ...named])).toMatchObject({
    status: 0,
  });
  const differing = await run(['check', 'by_command.json', '--against', 'kb.json', ...named]);
  expect(differing).toMatchObject({
    status: 1,
    stdout: expect.stringContaining('1 records are in the tables alone: "x"'),
  });
  expect(await run(['pull', 'by_command.json', 'pulled/copy.json', ...named])).toMatchObject({ status: 0 });
  await using model = await EmbeddingModel.load(catalogPath.replace('models.json', 'tiny.gguf'));
  await using copy = await openKnowledgeBase(file('pulled/copy.json'), { models: async () => model });
  expect(copy.size).toBe(records.length + 1);
  // The same config in the current folder was found by itself.
  const unnamed = await run(['search', 'by_command.json', question]);
  expect(unnamed.status).not.toBe(0);
  expect(unnamed.stderr).toMatch(/connections count only|declares no connection|there is no embedding model/);
  const built = await run(['build', 'by_command.json', ...named]);
  expect(built).toMatchObject({ status: 1, stderr: expect.stringContaining('`lorekeep pull` writes files') });
});
