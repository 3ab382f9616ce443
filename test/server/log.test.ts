import { expect, it, vi } from 'vitest';
import { EmbeddingModel } from '../../lib/index.js';
import { createLog } from '../../src/log/log.js';
import { handlers } from '../../src/server/handlers.js';
import { strings } from './corpus.js';
import { retrieveGraph, TestServer } from './test-server.js';

const marker = 'XYZZYmarker';

function capture() {
  const lines: string[] = [];
  return { lines, log: createLog('debug', { write: (line) => void lines.push(line) }) };
}

const params = (fields: object) => ({ nodes: [{ id: 'kb', type: 'retrieve', params: fields }] });

it('no line at debug level has a text of a user, whether things go well or badly', async () => {
  const { lines, log } = capture();
  const server = await TestServer.start({ log, config: { include_interaction_in_diagnostics: true } });
  const session = await server.session();
  const fields = { name: 'docs', strings: [...strings, marker], embeddingModel: 'tiny' };
  await session.createEmbeddedStringStorage(fields);
  const agent = await session.createAgent({
    graph: retrieveGraph({ mode: 'hybrid' }),
    enableDiagnostics: true,
  });
  expect((await agent.turn(`bees ${marker}`)).status).toBe('completed');
  // Longer than the model's context: it is embedded in windows.
  expect((await agent.turn(`${marker} `.repeat(2000))).status).toBe('completed');

  const client = await server.raw();
  const { session_id } = await client.request<never>({ id: 1, type: 'CreateSessionRequest' });
  const bad: object[] = [
    { type: marker },
    { type: 'TurnRequest', session_id: marker, agent_id: marker, text: marker },
    { type: 'TurnRequest', session_id, agent_id: marker, text: marker },
    { type: 'TurnRequest', session_id, agent_id: 'a', text: [marker], [marker]: 1 },
    { type: 'CancelTurnRequest', session_id, turn_id: marker },
    { type: 'CreateEmbeddedStringStorageRequest', session_id, name: marker, config_path: `${marker}.json` },
    { type: 'CreateEmbeddedStringStorageRequest', session_id, name: 'x', config_path: `../${marker}` },
    {
      type: 'CreateEmbeddedStringStorageRequest',
      session_id,
      name: 'x',
      strings: [marker],
      embedding_model: marker,
    },
    {
      type: 'CreateEmbeddedStringStorageRequest',
      session_id,
      name: 'x',
      strings: [`${marker} `.repeat(2000)],
      embedding_model: 'tiny',
    },
    { type: 'CreateAgentRequest', session_id, graph: params({ embedded_string_storage: marker }) },
    { type: 'CreateAgentRequest', session_id, graph: params({ query: `{{#${marker}` }) },
    {
      type: 'SearchEmbeddedStringStorageRequest',
      session_id,
      name: 'docs',
      text: marker,
      filter: { [marker]: [marker] },
    },
    { type: 'CreateSessionRequest', storage_data_folder: `/${marker}` },
  ];
  for (const [index, frame] of bad.entries()) await client.request({ id: `${marker}${index}`, ...frame });
  client.bytes(Buffer.from(`\u0001\0\0\0\u0014{"${marker}`.padEnd(25)));
  client.bytes(Buffer.from(marker.repeat(10)));
  await client.closed;

  expect(lines.length).toBeGreaterThan(5);
  expect(lines.filter((line) => line.includes(marker))).toEqual([]);
});

it('lines of a session, an agent and a turn say which', async () => {
  const { lines, log } = capture();
  const server = await TestServer.start({ log });
  const session = await server.session();
  await session.createEmbeddedStringStorage({ name: 'docs', strings, embeddingModel: 'tiny' });
  const agent = await session.createAgent({ graph: retrieveGraph() });
  await agent.turn('bees');
  const parsed = lines.map((line) => JSON.parse(line));
  expect(parsed.find(({ msg }) => msg === 'model loaded')).toMatchObject({ session: session.id });
  expect(parsed.find(({ msg }) => msg === 'turn complete')).toMatchObject({
    session: session.id,
    agent: agent.id,
    turn: expect.stringMatching(/^s\d+\.t\d+$/),
  });
  expect(parsed.find(({ msg }) => msg === 'connected')).toHaveProperty('client');
});

it('every refused request has a line with its client and its code, also a frame that is no request', async () => {
  const { lines, log } = capture();
  const client = await (await TestServer.start({ log })).raw();
  await client.request({ type: 'Unknown', id: 1 });
  await client.request({ type: 'Ping', id: 2, more: 1 });
  await client.request({ type: 'DestroySessionRequest', id: 3, session_id: 's9' });
  const refused = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request refused');
  expect(refused).toMatchObject([1002, 1004, 2001].map((code) => ({ level: 'debug', code })));
  const [{ client: address }] = refused;
  expect(address).toMatch(/^127\.0\.0\.1:\d+$/);
  expect(refused.every((line) => line.client === address)).toBe(true);
});

it('an exception in a handler ends its request alone, and the log has the stack', async () => {
  const { lines, log } = capture();
  const server = await TestServer.start({ log });
  const client = await server.raw();
  const ping = vi.spyOn(handlers, 'Ping').mockImplementation(() => {
    throw new TypeError('a defect');
  });
  const refused = await client.request({ id: marker, type: 'Ping' });
  expect(refused).toMatchObject({ type: 'Error', reply_to: marker, code: 1009, name: 'InternalError' });
  expect(JSON.stringify(refused)).not.toContain('a defect');
  ping.mockRestore();
  expect(await client.request({ id: 8, type: 'Ping' })).toMatchObject({ type: 'Pong', reply_to: 8 });
  const failed = lines.map((line) => JSON.parse(line)).filter(({ level }) => level === 'error');
  expect(failed).toMatchObject([{ msg: 'request failed', request: 'Ping', err: { message: 'a defect' } }]);
  expect(failed[0].err.stack).toContain('log.test.ts');
  expect(lines.join(''), 'the id is a text of the client').not.toContain(marker);
});

it('an exception in a turn ends the turn alone, and the log has the stack', async () => {
  const { lines, log } = capture();
  const server = await TestServer.start({ log });
  const session = await server.session();
  await session.createEmbeddedStringStorage({ name: 'docs', strings, embeddingModel: 'tiny' });
  const agent = await session.createAgent({ graph: retrieveGraph() });
  vi.spyOn(EmbeddingModel.prototype, 'embedSettled').mockRejectedValueOnce(new TypeError('a defect'));
  expect(await agent.turn('bees')).toMatchObject({ status: 'failed', error: { code: 1009 } });
  expect((await agent.turn('bees')).status).toBe('completed');
  const failed = lines.map((line) => JSON.parse(line)).filter(({ level }) => level === 'error');
  expect(failed).toMatchObject([{ msg: 'turn failed', session: session.id, err: { message: 'a defect' } }]);
});
