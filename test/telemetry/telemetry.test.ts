import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { configSchema } from '../../src/config/schema.js';
import { silentLog } from '../../src/log/log.js';
import { Telemetry } from '../../src/operations/telemetry/telemetry.js';
import { commandHost } from '../cli/commands.js';
import { temporaryFolder } from '../helpers/folder.js';
import { TestServer } from '../server/test-server.js';
import { Ingest } from './ingest.js';

const inFolder = temporaryFolder();
const lorekeep = commandHost();

const sink = (endpoint: string) => ({ endpoint, project_api_key: 'key-of-the-project', batch_max_ms: 10 });

function open(telemetry: object, environment: NodeJS.ProcessEnv = {}, log = silentLog()) {
  const { telemetry: config } = configSchema.parse({ telemetry });
  return Telemetry.open({ config, environment, version: '0.0.0', log });
}

it('a sink that is meant and cannot send is told, and one that is left empty is not', () => {
  const told: unknown[] = [];
  const log = silentLog();
  log.warn = (message: unknown) => told.push(message);
  const full = sink('http://127.0.0.1:1');
  for (const sinks of [[{}], [full], [{ ...full, enabled: false, endpoint: '' }], []])
    open({ sinks }, {}, log)?.close();
  expect(told).toEqual([]);
  for (const wrong of [{ endpoint: '' }, { project_api_key: '' }, { endpoint: 'ftp://127.0.0.1' }])
    open({ sinks: [{ ...full, ...wrong }] }, {}, log);
  expect(told).toEqual([
    'telemetry.sinks[0]: it has no endpoint; it sends nothing',
    'telemetry.sinks[0]: it has no project_api_key; it sends nothing',
    'telemetry.sinks[0]: its endpoint is not an http or https URL; it sends nothing',
  ]);
});

it('nothing is sent by default, without endpoint or key, when disabled, or when the environment opts out', () => {
  const full = { sinks: [sink('http://127.0.0.1:1')] };
  expect(open({})).toBeUndefined();
  expect(open({ sinks: [] })).toBeUndefined();
  expect(open({ ...full, enabled: false })).toBeUndefined();
  expect(open({ sinks: [{ ...sink('http://127.0.0.1:1'), enabled: false }] })).toBeUndefined();
  expect(open({ sinks: [{ ...sink('http://127.0.0.1:1'), project_api_key: '' }] })).toBeUndefined();
  for (const endpoint of ['', 'ftp://127.0.0.1', 'no address', 'http://user:secret@127.0.0.1'])
    expect(open({ sinks: [sink(endpoint)] })).toBeUndefined();
  for (const value of ['1', 'true', 'no']) expect(open(full, { DO_NOT_TRACK: value })).toBeUndefined();
  for (const value of ['0', 'off', 'off ', 'disabled', 'n'])
    expect(open(full, { LOREKEEP_TELEMETRY: value })).toBeUndefined();
  for (const environment of [{}, { DO_NOT_TRACK: '0' }, { DO_NOT_TRACK: '' }, { LOREKEEP_TELEMETRY: ' on' }])
    expect(open(full, environment)).toBeDefined();
});

async function turnOn(config: object): Promise<TestServer> {
  const server = await TestServer.start({ config });
  const session = await server.session();
  const agent = await session.createAgent({
    graph: { nodes: [{ id: 'answer', type: 'quote', params: { fallback: 'a secret reply' } }] },
  });
  await agent.turn('a secret question');
  return server;
}

it('a server sends an event per turn to every sink and flushes at its end; texts only when asked', async () => {
  const first = await Ingest.listen();
  const second = await Ingest.listen();
  const sinks = [sink(first.url), { ...sink(`${second.url}/ingest/`), batch_max_ms: 3_600_000 }];
  const server = await turnOn({ telemetry: { sinks } });
  await server.server.close();
  for (const { batches, events } of [first, second]) {
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({
      event: 'turn',
      properties: { status: 'completed', nodes: ['quote'], message_length: 17, reply_length: 14 },
    });
    expect(JSON.stringify(batches)).not.toContain('secret');
  }
  expect(second.batches[0]?.path).toBe('/ingest/batch/');

  const third = await Ingest.listen();
  const speaking = await turnOn({ telemetry: { include_user_content: true, sinks: [sink(third.url)] } });
  await speaking.server.close();
  expect(third.events[0]?.properties).toMatchObject({
    human_message: 'a secret question',
    character_reply: 'a secret reply',
  });
});

it('no socket is opened by a server whose telemetry is off', async () => {
  const ingest = await Ingest.listen();
  const server = await turnOn({ telemetry: { enabled: false, sinks: [sink(ingest.url)] } });
  await server.server.close();
  const keyless = await turnOn({ telemetry: { sinks: [{ endpoint: ingest.url }] } });
  await keyless.server.close();
  expect(ingest.connections).toBe(0);
});

it('lorekeep telemetry says what is sent and switches it off, and keeps the rest of the config', async () => {
  const config = inFolder('server-config.json');
  const text = `{\n  "port": 0,\n  "telemetry": { "sinks": [${JSON.stringify(sink('https://example.invalid'))}] }\n}\n`;
  writeFileSync(config, text);
  chmodSync(config, 0o620); // the umask forbids a part of it
  const status = await lorekeep(['telemetry', 'status', '--config', config]);
  expect(status.stdout).toContain('telemetry is on, without texts of users');
  expect(status.stdout).toContain('https://example.invalid/batch/');
  const show = await lorekeep(['telemetry', 'show', '--config', config]);
  const shown = JSON.parse(show.stdout) as { batch: { event: string; properties: object }[] };
  expect(shown.batch[0]?.event).toBe('turn');
  expect(show.stdout).not.toContain('key-of-the-project');
  const off = await lorekeep(['telemetry', 'off', '--config', config]);
  expect(off.status, off.stderr).toBe(0);
  if (process.platform !== 'win32') expect(statSync(config).mode & 0o777).toBe(0o620);
  const edited = readFileSync(config, 'utf8');
  expect(JSON.parse(edited)).toEqual({
    port: 0,
    telemetry: { sinks: [sink('https://example.invalid')], enabled: false },
  });
  const after = await lorekeep(['telemetry', 'status', '--json', '--config', config]);
  expect(JSON.parse(after.stdout)).toMatchObject({ on: false, reason: 'telemetry.enabled is false' });
  const absent = await lorekeep(['telemetry', 'off', '--config', inFolder('absent.json')]);
  expect(absent.status).toBe(1);
  expect(absent.stderr).toContain('LOREKEEP_TELEMETRY=0');
});

it('telemetry off changes a config only', async () => {
  const catalog = inFolder('models.json');
  writeFileSync(catalog, '{"models": []}');
  const refused = await lorekeep(['telemetry', 'off', '--config', catalog]);
  expect(refused.status).toBe(1);
  expect(refused.stderr).toContain('sets no field of a server config');
  expect(readFileSync(catalog, 'utf8')).toBe('{"models": []}');
  const empty = inFolder('empty.json');
  writeFileSync(empty, '{}');
  expect((await lorekeep(['telemetry', 'off', '--config', empty])).status).toBe(0);
  expect(JSON.parse(readFileSync(empty, 'utf8'))).toEqual({ telemetry: { enabled: false } });
});

it('DO_NOT_TRACK is the reason that status gives', async () => {
  const { stdout } = await lorekeep(['telemetry', 'status'], { env: { DO_NOT_TRACK: '1' } });
  expect(stdout).toContain('telemetry is off: the environment sets DO_NOT_TRACK');
});
