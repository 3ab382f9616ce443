import { chmodSync, linkSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { connect } from '../../src/client/index.js';
import { readAccessToken } from '../../src/config/access-token.js';
import type { ServerConfig } from '../../src/config/schema.js';
import { createLog } from '../../src/log/log.js';
import type { ServerFrame } from '../../src/protocol/frames.js';
import { AccessGate, ofAll, perAddress } from '../../src/server/access-gate.js';
import { LorekeepServer } from '../../src/server/server.js';
import { refusal, refused } from '../helpers/errors.js';
import { temporaryFolder } from '../helpers/folder.js';
import { catalogPath, retrieveGraph, TestServer } from './test-server.js';

const file = temporaryFolder();
const secret = 'the-secret-of-this-server-0123456789';

function write(path: string, content: unknown): void {
  mkdirSync(dirname(file(path)), { recursive: true });
  writeFileSync(file(path), typeof content === 'string' ? content : JSON.stringify(content));
}

const kb = { embedding_model: 'tiny', records_file: 'records.json' };
const records = [{ id: 'a', text: 'Bees dance.' }];

beforeAll(() => {
  for (const folder of ['root', 'root/sub', 'listed/sub', 'outside']) {
    write(`${folder}/kb.json`, kb);
    write(`${folder}/records.json`, records);
  }
  symlinkSync(file('outside'), file('root/to-outside'));
  symlinkSync(file('never-there'), file('root/to-absent'));
  symlinkSync(file('listed/sub'), file('root/to-listed'));
  symlinkSync(file('root/sub'), file('root/to-sub'));
  symlinkSync(file('root'), file('root-alias'));
  write('token', `  ${secret}\n`);
  chmodSync(file('token'), 0o600);
});

const canned = (string_storage: string) => ({
  nodes: [{ id: 'n', type: 'canned_response' as const, params: { string_storage } }],
});

/** A log whose lines are kept. */
function keptLog(level: 'trace' | 'info' = 'trace') {
  const lines: string[] = [];
  const log = createLog(level, { write: (line: string) => lines.push(line) } as never);
  return { log, lines };
}

describe('folders of sessions', () => {
  const folders: [folder: string, any: boolean, inRoot: boolean, listed: boolean][] = [
    ['', true, true, true],
    ['sub', true, true, true],
    ['sub/../sub', true, true, true],
    ['absent', true, true, true],
    [file('root'), true, true, true],
    [file('root/sub'), true, true, true],
    [file('root/absent/deep'), true, true, true],
    [file('root-alias/sub'), true, true, true],
    ['to-sub', true, true, true],
    [file('listed'), true, false, true],
    [file('listed/sub'), true, false, true],
    [file('outside'), true, false, false],
    [file('never-there'), true, false, false],
    [file('listed-beside'), true, false, false],
    [file(), true, false, false],
    ['/', true, false, false],
    ['/etc', true, false, false],
    ['..', true, false, false],
    ['../outside', true, false, false],
    ['../never-there', true, false, false],
    ['to-outside', true, false, false],
    ['to-outside/never-there', true, false, false],
    ['to-absent', true, false, false],
    ['to-listed', true, false, false],
    ['/proc', false, false, false],
    ['/proc/self', false, false, false],
    ['/proc/999999999', false, false, false],
    ['/sys/kernel', false, false, false],
    ['/dev', false, false, false],
    ['/dev/shm/never-there', false, false, false],
  ];

  it.each([
    ['any', 1],
    ['storage_root', 2],
    [[file('listed')], 3],
  ] as const)(
    'that %j allows are taken, others are refused alike, whether they exist or not',
    async (session_folders, column) => {
      const config = { storage_root: file('root-alias'), session_folders } as Partial<ServerConfig>;
      const client = await (await TestServer.start({ config })).connect();
      const messages = new Set<string>();
      for (const row of folders) {
        const [storage_data_folder] = row;
        const made = client.createSession({ storageDataFolder: storage_data_folder });
        if (row[column]) await expect(made, storage_data_folder).resolves.toBeDefined();
        else {
          const error = await refusal(made);
          expect(error, storage_data_folder).toMatchObject({ code: 3011, name: 'SessionFolderRefused' });
          messages.add(error.message.replace(JSON.stringify(storage_data_folder), 'FOLDER'));
        }
      }
      expect(messages.size).toBe(1);
      const inSub = await client.createSession({ storageDataFolder: 'sub' });
      await inSub.createEmbeddedStringStorage({ name: 'docs', configPath: 'kb.json' });
      const up = inSub.createEmbeddedStringStorage({ name: 'up', configPath: '../kb.json' });
      expect(await refusal(up)).toMatchObject({ code: 3009 });
    },
  );

  it('are those inside the storage root by default on the network, and any on this machine', async () => {
    for (const [network_access, code] of [
      ['local', undefined],
      ['local_network', 3011],
    ] as const) {
      const client = await (
        await TestServer.start({ config: { network_access, storage_root: file('root') } })
      ).connect();
      const made = client.createSession({ storageDataFolder: file('outside') });
      if (code === undefined) await expect(made).resolves.toBeDefined();
      else expect(await refusal(made)).toMatchObject({ code });
    }
  });

  it('stay inside when a link leads elsewhere after the session was made', async () => {
    mkdirSync(file('root/moving'));
    write('root/moving/kb.json', kb);
    write('root/moving/records.json', records);
    const config = { storage_root: file('root'), session_folders: 'storage_root' } as const;
    const client = await (await TestServer.start({ config })).connect();
    const session = await client.createSession({ storageDataFolder: 'moving' });
    await session.createEmbeddedStringStorage({ name: 'docs', configPath: 'kb.json' });
    rmSync(file('root/moving'), { recursive: true });
    symlinkSync(file('outside'), file('root/moving'));
    const again = session.createEmbeddedStringStorage({ name: 'again', configPath: 'kb.json' });
    expect(await refusal(again)).toMatchObject({ code: 3010 });
  });

  it('are told at the start, with what is probably a mistake', async () => {
    const said = async (config: Partial<ServerConfig>) => {
      const { log, lines } = keptLog('info');
      await TestServer.start({ config: { storage_root: file('root'), ...config }, log });
      return lines
        .map((line) => JSON.parse(line))
        .filter(({ msg }) => /session_folders|access_token|storage_root:/.test(msg));
    };
    expect(await said({})).toMatchObject([{ level: 'info', msg: /this machine.*any folder/ }].map(like));
    expect(await said({ network_access: 'local_network', session_folders: 'any' })).toMatchObject(
      [
        { level: 'warn', msg: /local network.*any folder.*set session_folders/ },
        { level: 'warn', msg: /asks for no access token/ },
      ].map(like),
    );
    const safe = { network_access: 'local_network', access_token_file: file('token') } as const;
    expect(await said(safe)).toMatchObject(
      [{ level: 'info', msg: /with the access token.*root$/ }].map(like),
    );
    const list = { session_folders: [file('listed'), file('gone'), '/proc'] };
    expect(await said(list)).toMatchObject(
      [
        { level: 'info', msg: /this machine.*listed/ },
        { level: 'warn', msg: /^session_folders: \S*gone does not exist; correct the path/ },
        { level: 'warn', msg: /^session_folders: \/proc is in .*which no client may open/ },
      ].map(like),
    );
    for (const [storage_root, msg] of [
      [file('root/kb.json'), /kb\.json is a file/],
      [file('gone'), /gone does not exist/],
      ['/proc/self', /which no client may open/],
    ] as const)
      expect((await said({ storage_root }))[0]).toMatchObject(like({ level: 'warn', msg }));
  });
});

const like = ({ level, msg }: { level: string; msg: RegExp }) => ({ level, msg: expect.stringMatching(msg) });

describe("the server's own files", () => {
  it('are opened by no request, by none of their names', async () => {
    const own = {
      'own/server-config.json': 'api-key: 12345',
      'own/models.json': '',
      'own/token': secret,
      'own/downloads/downloads.json': '{"downloads":1}',
      'own/logs/service.1.log': 'an old line',
    };
    for (const [path, content] of Object.entries(own)) write(path, content);
    const catalog = file('own/models.json');
    await TestServer.start();
    rmSync(catalog);
    linkSync(catalogPath, catalog);
    chmodSync(file('own/token'), 0o600);
    mkdirSync(file('own/links'), { recursive: true });
    const names = Object.keys(own).map((path) => path.slice('own/'.length));
    for (const [index, name] of names.entries()) {
      symlinkSync(`../${name}`, file(`own/links/soft${index}`));
      linkSync(file('own', name), file(`own/links/hard${index}`));
    }
    symlinkSync('../logs', file('own/links/logs'));
    write('own/dumps/crash-1.dmp', 'MDMP');
    symlinkSync('../dumps', file('own/links/dumps'));
    write('own/plain.txt', 'Hello.');
    const config = {
      storage_root: file('own'),
      models_catalog_path: catalog,
      models_download_dir: file('own/downloads'),
      logs_dir: file('own/logs'),
      crash_dump: { enabled: true, dir: file('own/dumps') },
      access_token_file: file('own/token'),
    };
    const { log } = keptLog();
    const server = await LorekeepServer.start({
      config: { ...(await serverConfig()), ...config },
      configFile: file('own/server-config.json'),
      log,
    });
    try {
      await using client = await connect({ port: server.port, accessToken: secret });
      const inRoot = await client.createSession();
      const inDisk = await client.createSession({ storageDataFolder: '/' });
      const paths = [
        ...names,
        ...names.flatMap((_, index) => [`links/soft${index}`, `links/hard${index}`]),
        'links/logs/service.1.log',
        'dumps/crash-1.dmp',
        'links/dumps/crash-1.dmp',
      ];
      for (const path of paths) {
        const absolute = file('own', path).slice(1);
        for (const [session, named] of [
          [inRoot, path],
          [inDisk, absolute],
        ] as const) {
          const error = await refusal(session.createAgent({ graph: canned(named) }));
          expect(error, named).toMatchObject({ code: 3010 });
          const opened = session.createEmbeddedStringStorage({ name: 'kb', configPath: named });
          expect(await refusal(opened), named).toMatchObject({ code: 3010 });
        }
        for (const field of ['records_file', 'index_file', 'bm25_file', 'embeddings_file']) {
          write('own/kb.json', { ...kb, [field]: path });
          write('own/records.json', records);
          const opened = inRoot.createEmbeddedStringStorage({ name: 'kb', configPath: 'kb.json' });
          expect(await refusal(opened), `${field} ${path}`).toMatchObject({ code: 8003, details: { field } });
        }
      }
      const agent = await inRoot.createAgent({ graph: canned('plain.txt') });
      expect((await agent.turn('hello')).text).toBe('Hello.');
    } finally {
      await server.close();
    }
  });
});

it('an access token that the config names later is closed from then on', async () => {
  write('later/token', `${secret}-2`);
  write('later/server-config.json', '{}');
  const { server } = await TestServer.start({
    config: { storage_root: file('later'), access_token_file: file('token') },
    configFile: file('later/server-config.json'),
  });
  await using client = await connect({ port: server.port, accessToken: secret });
  const session = await client.createSession();
  await session.createAgent({ graph: canned('token') });
  const config = { ...(await serverConfig()), access_token_file: file('later/token') };
  await server.reload({ config, sources: new Map([['access_token_file', 'file']]) });
  expect(await refusal(session.createAgent({ graph: canned('token') }))).toMatchObject({ code: 3010 });
});

it('an access token that the config named between two readings stays closed', async () => {
  write('between/token', `${secret}-3`);
  const { server } = await TestServer.start({
    config: { storage_root: file('between'), access_token_file: file('token') },
  });
  const sources = new Map([['access_token_file', 'file']]);
  for (const access_token_file of [file('between/token'), file('token')])
    await server.reload({ config: { ...(await serverConfig()), access_token_file }, sources });
  await using client = await connect({ port: server.port, accessToken: secret });
  const session = await client.createSession();
  expect(await refusal(session.createAgent({ graph: canned('token') }))).toMatchObject({ code: 3010 });
});

async function serverConfig(): Promise<ServerConfig> {
  const { configSchema } = await import('../../src/config/schema.js');
  return configSchema.parse({ port: 0 });
}

describe('an access token', () => {
  const start = (log = keptLog().log) =>
    TestServer.start({ config: { access_token_file: file('token'), storage_root: file('root') }, log });

  it('is asked of every session', async () => {
    const { port } = await start();
    await using without = await connect({ port });
    await without.ping();
    expect(await refusal(without.createSession())).toMatchObject({ code: 2010 });
    await using wrong = await connect({ port, accessToken: `${secret}x` });
    expect(await refusal(wrong.createSession())).toMatchObject({ code: 2011 });
    await using right = await connect({ port, accessToken: secret });
    const session = await right.createSession();
    await session.createEmbeddedStringStorage({ name: 'docs', configPath: 'kb.json' });
    expect(await refusal(wrong.createSession())).toMatchObject({ code: 2011 });
    for (const accessToken of ['', 'x'.repeat(4097), 12345678, null]) {
      const error = await refusal(right.createSession({ accessToken } as never));
      expect(error).toMatchObject({ code: 1004, details: { path: 'access_token' } });
      expect(error.message).not.toContain('12345678');
    }
  });

  it('is sent again on a new connection', async () => {
    const first = await start();
    const client = await connect({ port: first.port, accessToken: secret, reconnect: { minDelayMs: 1 } });
    const session = await client.createSession();
    const { port } = first;
    await first.server.close();
    await TestServer.start({
      config: { port, access_token_file: file('token'), storage_root: file('root') },
    });
    await session.createEmbeddedStringStorage({ name: 'docs', configPath: 'kb.json' });
    await client.close();
  });

  it('is in no line of the log, no error and no diagnostics', async () => {
    const { log, lines } = keptLog('trace');
    const { port } = await start(log);
    const answers: unknown[] = [];
    await using client = await connect({ port, accessToken: secret });
    const session = await client.createSession();
    await session.createEmbeddedStringStorage({ name: 'docs', configPath: 'kb.json' });
    const agent = await session.createAgent({ graph: retrieveGraph(), enableDiagnostics: true });
    answers.push(await agent.turn('bees'));
    const wrong = `${secret}-but-wrong`;
    await using other = await connect({ port, accessToken: wrong });
    for (const folder of ['', '/etc']) {
      const error = await refusal(other.createSession({ storageDataFolder: folder }));
      answers.push([error.message, error.details]);
    }
    const misspelt = await refusal(client.createSession({ acess_token: secret } as never));
    answers.push([misspelt.message, misspelt.details]);
    expect(lines.length).toBeGreaterThan(5);
    expect([...lines, JSON.stringify(answers)].filter((text) => text.includes(secret))).toEqual([]);
  });

  it('is needed for everything but Ping and StatusRequest, also for what names no session', async () => {
    const server = await start();
    const stranger = await server.raw();
    let id = 0;
    const ask = (client: typeof stranger, frame: object) =>
      client.request<ServerFrame>({ id: ++id, ...frame });
    const frames = [
      { type: 'ThrottleReport', level: 1 },
      { type: 'VideoMemoryRequest', allowed: false },
    ];
    for (const frame of frames)
      expect(await ask(stranger, frame)).toMatchObject({ type: 'Error', code: 2010 });
    expect(await ask(stranger, { type: 'StatusRequest' })).toMatchObject({ throttle: 0 });
    expect(await ask(stranger, { type: 'CreateSessionRequest', access_token: 'wrong' })).toMatchObject({
      code: 2011,
    });
    for (const frame of frames) expect(await ask(stranger, frame)).toMatchObject({ code: 2010 });
    const known = await server.raw();
    await ask(known, { type: 'CreateSessionRequest', access_token: secret });
    expect(await ask(known, { type: 'ThrottleReport', level: 0.5 })).toMatchObject({ type: 'Ack' });
    expect(await ask(known, { type: 'StatusRequest' })).toMatchObject({ throttle: 0.5 });
  });

  it('may be guessed a few times only, by one address and by all, and the wait is told', () => {
    let now = 0;
    const gate = new AccessGate(secret, () => now);
    const wrong = (address: string) => refused(() => gate.check(address, 'wrong'));
    const trusted = '10.1.1.1';
    gate.check(trusted, secret);
    for (let failure = 0; failure < perAddress.burst; failure++) expect(wrong('10.0.0.1').code).toBe(2011);
    const limited = wrong('10.0.0.1');
    expect(limited).toMatchObject({ code: 2012, details: { retry_after_ms: 1000 / perAddress.perSecond } });
    expect(refused(() => gate.check('::ffff:10.0.0.1', secret)).code).toBe(2012);
    gate.check('10.0.0.2', secret);
    now += Number(limited.details.retry_after_ms);
    expect(wrong('10.0.0.1').code).toBe(2011);
    expect(wrong('10.0.0.1').code).toBe(2012);
    let failures = 0;
    for (let host = 0; host < 5000; host++)
      failures += Number(wrong(`2001:db8:0:${host.toString(16)}::1`).code === 2011);
    expect(failures).toBeLessThanOrEqual(ofAll.burst + ofAll.perSecond);
    expect(refused(() => gate.check('10.9.9.9', secret)).code).toBe(2012);
    gate.check(trusted, secret);
    now += 60_000;
    gate.check('10.9.9.9', secret);
    for (let host = 0; host < perAddress.burst; host++) expect(wrong(`2001:db8::${host}`).code).toBe(2011);
    expect(wrong('2001:db8::ffff').code).toBe(2012);
  });

  it('is read from a file of one line, with a warning when others may read it or it can be guessed', async () => {
    expect(await readAccessToken(file('token'), 'field')).toEqual({ token: secret, warnings: [] });
    write('short', 'secret');
    chmodSync(file('short'), 0o644);
    const { token, warnings } = await readAccessToken(file('short'), 'field');
    expect([token, warnings.length]).toEqual(['secret', 2]);
    expect(warnings.join()).not.toContain('"secret"');
    chmodSync(file('token'), 0o602);
    const { warnings: writable } = await readAccessToken(file('token'), 'field');
    chmodSync(file('token'), 0o600);
    expect(writable).toEqual([expect.stringMatching(/other users may replace the access token; chmod 600/)]);
    write('empty', ' \n\t');
    write('two', 'one\ntwo');
    write('long', 'x'.repeat(4097));
    write('separated', `${secret}\u2028`);
    write('paragraphs', `one\u2029two`);
    write('unseen', `${secret}\u200b`);
    write('unbroken', `${secret}\u00a0`);
    writeFileSync(file('binary'), Buffer.from([0xff, 0xfe]));
    const problems: [string, RegExp][] = [
      ['never-there', /does not exist/],
      ['root', /not a regular file/],
      ['empty', /is empty/],
      ['two', /one line/],
      ['separated', /one line/],
      ['paragraphs', /one line/],
      ['unseen', /invisible character/],
      ['unbroken', /invisible character/],
      ['long', /longer than 4096/],
      ['binary', /UTF-8/],
    ];
    for (const [name, problem] of problems) {
      const reading = readAccessToken(file(name), 'access_token_file');
      await expect(reading).rejects.toThrow(problem);
      await expect(readAccessToken(file(name), 'access_token_file')).rejects.toThrow(/^access_token_file: /);
    }
    const config = { access_token_file: file('empty') };
    await expect(TestServer.start({ config })).rejects.toThrow('is empty');
  });
});
