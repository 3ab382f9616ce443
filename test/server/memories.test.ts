import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { forgetEverywhere, updateThrough } from '../../src/cli/records/through-process.js';
import { type ClientSession, connect, type Graph } from '../../src/client/index.js';
import { refusal } from '../helpers/errors.js';
import { temporaryFolder } from '../helpers/folder.js';
import { repetitions } from '../helpers/repetitions.js';
import { Program } from './program.js';
import { catalogPath, TestServer } from './test-server.js';

const file = temporaryFolder();
const storage = 'memory';
const rounds = repetitions('MEMORY_KILLS', 1, 10);

const graph = (params: object = {}): Graph => ({
  nodes: [
    {
      id: 'recall',
      type: 'retrieve',
      params: { embeddedStringStorage: storage, topK: 5, mode: 'lexical', emit: true },
    },
    { id: 'keep', type: 'remember', params: { storage, embeddingModel: 'tiny', ...params } },
  ],
});

let folders = 0;
const newFolder = () => file(`memories-${++folders}`);

async function serverAt(memories_dir: string, config: object = {}) {
  return TestServer.start({ config: { memories_dir, storage_root: file(), ...config } });
}

const secretOf = ({ memories }: { memories: readonly { secret?: string | undefined }[] }) =>
  memories[0]?.secret as string;

const textsOf = async (session: ClientSession, name = storage) =>
  (await session.listRecords({ name, limit: 1000 })).records.map(({ text }) => text);

/** All files under a folder. */
const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

describe('a memory that lasts', () => {
  it('is opened again by its secret, in other sessions and after a restart', async () => {
    for (const more of [{ scope: 'agent' }, { scope: 'name', name: 'Ann' }]) {
      const folder = newFolder();
      const first = await serverAt(folder);
      const session = await first.session();
      const agent = await session.createAgent({ graph: graph(more) });
      expect(agent.memories).toMatchObject([{ node: 'keep', storage, scope: more.scope, created: true }]);
      const secret = secretOf(agent);
      expect(Buffer.from(secret.split('.')[1] as string, 'base64url').length).toBeGreaterThanOrEqual(16);
      await agent.turn('Bees dance in the hive.');
      await session.updateEmbeddedStringStorage({
        name: storage,
        add: [{ id: 'own', text: 'Glaciers grind.' }],
      });
      await session.destroy();
      const second = await first.session();
      const again = await second.createAgent({ graph: graph({ ...more, secret }) });
      expect(again.memories).toEqual([{ node: 'keep', storage, scope: more.scope, created: false }]);
      expect((await again.turn('Who does dance?')).hits?.[0]?.text).toBe('Bees dance in the hive.');
      await first.server.close();
      const third = await (await serverAt(folder)).session();
      const later = await third.createAgent({ graph: graph({ ...more, secret }) });
      const { hits } = await later.turn('Who does dance now?');
      expect(hits?.map(({ text }) => text)).toContain('Bees dance in the hive.');
      expect((await textsOf(third)).sort()).toEqual(['Bees dance in the hive.', 'Glaciers grind.'].sort());
      expect(
        filesIn(folder).some((path) => readFileSync(path).includes(secret.split('.')[1] as string)),
      ).toBe(false);
    }
  });

  it('is not opened by its name, a wrong secret, or the secret of another, with one and the same error', async () => {
    const server = await serverAt(newFolder());
    const create = async (params: object) => (await server.session()).createAgent({ graph: graph(params) });
    const ann = secretOf(await create({ scope: 'name', name: 'Ann' }));
    const bob = secretOf(await create({ scope: 'name', name: 'Bob' }));
    const lone = secretOf(await create({ scope: 'agent' }));
    const [id = '', key = ''] = ann.split('.');
    const changed = `${id}.${key.startsWith('A') ? 'B' : 'A'}${key.slice(1)}`;
    const wrong: object[] = [
      { scope: 'name', name: 'Ann', secret: bob },
      { scope: 'name', name: 'Ann', secret: changed },
      { scope: 'name', name: 'Ann', secret: `${bob.split('.')[0]}.${key}` },
      { scope: 'name', name: 'Ann', secret: `${'0'.repeat(16)}.${key}` },
      { scope: 'name', name: 'Ann', secret: key },
      { scope: 'name', name: 'Ann', secret: id },
      { scope: 'name', name: 'ann', secret: ann },
      { scope: 'name', name: 'Nobody', secret: ann },
      { scope: 'name', name: 'Ann', secret: lone },
      { scope: 'agent', secret: ann },
      { scope: 'agent', secret: '../../secret' },
      { scope: 'agent', secret: `../${id}.${key}`.slice(0, 128) },
      { scope: 'agent', secret: '\0' },
      { scope: 'agent', secret: `${id}.` },
    ];
    const errors = new Set<string>();
    for (const params of wrong) {
      const { code, message } = await refusal(create(params));
      expect(code, JSON.stringify(params)).toBe(8020);
      errors.add(message);
    }
    expect(errors.size).toBe(1);
    // A name is no key: without a secret, another memory is made.
    const other = await create({ scope: 'name', name: 'Ann' });
    expect(other.memories[0]?.created).toBe(true);
    expect((await other.turn('What is there?')).hits).toEqual([]);
    await create({ scope: 'name', name: 'Ann', secret: ann });
    const model = await refusal(create({ scope: 'agent', secret: lone, embeddingModel: 'prefixed' }));
    expect([model.code, model.details.path]).toEqual([4003, 'graph.nodes[1].params.embedding_model']);
  });

  it('asks for the secret also where the session has the memory already', async () => {
    const session = await (await serverAt(newFolder())).session();
    const secret = secretOf(await session.createAgent({ graph: graph({ scope: 'agent' }) }));
    const wrong = secret.replace(/.$/, (last) => (last === 'A' ? 'E' : 'A'));
    const refused = await refusal(session.createAgent({ graph: graph({ scope: 'agent', secret: wrong }) }));
    expect(refused.code).toBe(8020);
    const again = await session.createAgent({ graph: graph({ scope: 'agent', secret }) });
    expect(again.memories[0]).not.toHaveProperty('secret');
    expect((await refusal(session.createAgent({ graph: graph({ scope: 'agent' }) }))).code).toBe(8002);
  });

  it('takes any name: the name is in no path', async () => {
    const folder = newFolder();
    const server = await serverAt(folder);
    const names = [
      ...['../../etc/passwd', '/', 'a\\b', '..', '.', 'CON', 'nul.json', '\u0000', 'a\nb', '%2e%2e%2f', '~'],
      ...[
        '\u00e9',
        'e\u0301',
        '\u202eevil',
        '👩‍👩‍👧',
        '日本語',
        ' ',
        'x'.repeat(128),
        '"{}',
        '$HOME',
        '__proto__',
      ],
    ];
    const secrets = new Map<string, string>();
    for (const name of names) {
      const session = await server.session();
      const agent = await session.createAgent({ graph: graph({ scope: 'name', name }) });
      await agent.turn(`Memory ${names.indexOf(name)}.`);
      secrets.set(name, secretOf(agent));
      await session.destroy();
    }
    expect(readdirSync(folder).every((entry) => /^[0-9a-f]{16}$/.test(entry))).toBe(true);
    expect(readdirSync(folder)).toHaveLength(names.length);
    for (const name of names) {
      const session = await server.session();
      await session.createAgent({ graph: graph({ scope: 'name', name, secret: secrets.get(name) }) });
      expect(await textsOf(session)).toEqual([`Memory ${names.indexOf(name)}.`]);
      await session.destroy();
    }
    const session = await server.session();
    for (const name of ['', 'x'.repeat(129), '\ud800']) {
      const { code } = await refusal(session.createAgent({ graph: graph({ scope: 'name', name }) }));
      expect(code, JSON.stringify(name)).toBe(4003);
    }
    const composed = { scope: 'name', name: 'e\u0301', secret: secrets.get('\u00e9') };
    expect((await refusal(session.createAgent({ graph: graph(composed) }))).code).toBe(8020);
  });

  it('is shared by sessions with the same secret at once, in one order', async () => {
    const server = await serverAt(newFolder());
    const first = await server.session();
    const one = await first.createAgent({ graph: graph({ scope: 'agent' }) });
    const params = { scope: 'agent', secret: secretOf(one) };
    const sessions = [first, await server.session(), await server.session()];
    const agents = [
      one,
      ...(await Promise.all(
        sessions.slice(1).map((session) => session.createAgent({ graph: graph(params) })),
      )),
    ];
    const texts = Array.from({ length: 30 }, (_, index) => `Bee number ${index} dances.`);
    const turns = texts.map((text, index) => (agents[index % 3] as typeof one).turn(text));
    // Everyone also says the same.
    const same = agents.map((agent) => agent.turn('Glaciers grind valleys.'));
    for (const { status } of await Promise.all([...turns, ...same])) expect(status).toBe('completed');
    for (const session of sessions)
      expect((await textsOf(session)).sort()).toEqual([...texts, 'Glaciers grind valleys.'].sort());
    const { records } = await first.listRecords({ name: storage });
    expect(records.find(({ text }) => text.startsWith('Glaciers'))?.metadata?.count).toBe(3);
    await first.destroy();
    expect((await (agents[1] as typeof one).turn('Bee number 99 dances.')).status).toBe('completed');
  });

  it('keeps its files from every request by path, and from other users', async () => {
    const folder = newFolder();
    const server = await serverAt(folder, { session_folders: 'any' });
    const session = await server.session();
    const agent = await session.createAgent({ graph: graph({ scope: 'agent' }) });
    await agent.turn('Bees dance in the hive.');
    const files = filesIn(folder);
    expect(files.length).toBeGreaterThan(3);
    const inRoot = (path: string) => path.slice(file().length + 1);
    for (const path of files) {
      expect(statSync(path).mode & 0o777, path).toBe(0o600);
      const canned = { id: 'n', type: 'canned_response', params: { stringStorage: inRoot(path) } } as const;
      const requests = [
        () => session.createEmbeddedStringStorage({ name: 'kb', configPath: inRoot(path) }),
        () => session.search({ name: `./${inRoot(path)}`, text: 'bees' }),
        () => session.createAgent({ graph: { nodes: [canned] } }),
      ];
      for (const request of requests) expect((await refusal(request())).code).toBe(3010);
    }
    const client = await server.connect();
    for (const inside of [folder, join(folder, readdirSync(folder)[0] as string)]) {
      expect(statSync(inside).mode & 0o777).toBe(0o700);
      expect((await refusal(client.createSession({ storageDataFolder: inside }))).code).toBe(3011);
    }
  });

  it('keeps its files the owner’s after a merge, and forgets texts in all of them', async () => {
    const folder = newFolder();
    const server = await serverAt(folder);
    const session = await server.session();
    const agent = await session.createAgent({ graph: graph({ scope: 'agent' }) });
    const secret = secretOf(agent);
    for (const text of ['Bees dance in the hive.', 'The canary is zxq-77.', 'Glaciers grind valleys.'])
      await agent.turn(text);
    const { records } = await session.listRecords({ name: storage });
    const id = records.find(({ text }) => text.includes('zxq-77'))?.id as string;
    expect(await session.forgetRecords({ name: storage, ids: [id] })).toMatchObject({ forgotten: 1 });
    const files = filesIn(folder);
    expect(files.some((path) => path.endsWith('records.index'))).toBe(true);
    for (const path of files) {
      expect(readFileSync(path).includes('zxq-77'), path).toBe(false);
      expect(statSync(path).mode & 0o777, path).toBe(0o600);
    }
    await agent.turn('Ferries leave on Tuesday.');
    await server.server.close();
    const later = await (await serverAt(folder)).session();
    await later.createAgent({ graph: graph({ scope: 'agent', secret }) });
    expect((await textsOf(later)).sort()).toEqual(
      ['Bees dance in the hive.', 'Ferries leave on Tuesday.', 'Glaciers grind valleys.'].sort(),
    );
  });

  it('with damaged files is refused with a clear error, and stays as it is', async () => {
    const folder = newFolder();
    const server = await serverAt(folder);
    const session = await server.session();
    const agent = await session.createAgent({ graph: graph({ scope: 'agent' }) });
    const secret = secretOf(agent);
    await agent.turn('Bees dance in the hive.');
    await session.destroy();
    for (const path of filesIn(folder).filter((each) => !each.endsWith('memory.json'))) {
      const whole = readFileSync(path);
      writeFileSync(path, Buffer.from(whole).reverse());
      const other = await server.session();
      const { code, message } = await refusal(
        other.createAgent({ graph: graph({ scope: 'agent', secret }) }),
      );
      expect([code, message.includes(folder)], path).toEqual([8003, false]);
      await other.destroy();
      writeFileSync(path, whole);
    }
    const later = await server.session();
    await later.createAgent({ graph: graph({ scope: 'agent', secret }) });
    expect(await textsOf(later)).toEqual(['Bees dance in the hive.']);
  });

  it('is not made for an agent that is refused', async () => {
    const folder = newFolder();
    const session = await (await serverAt(folder)).session();
    const nodes = [
      ...graph({ scope: 'agent' }).nodes,
      { id: 'last', type: 'canned_response', params: { stringStorage: 'absent.txt' } },
    ] as Graph['nodes'];
    expect((await refusal(session.createAgent({ graph: { nodes } }))).code).toBe(3010);
    expect(readdirSync(folder)).toEqual([]);
    expect((await refusal(session.listRecords({ name: storage }))).code).toBe(8005);
  });

  it('takes no more bytes on disk than a client and all clients may', async () => {
    const folder = newFolder();
    const server = await serverAt(folder, { memories_client_max_mb: 1, memories_max_mb: 2 });
    const text = (client: number, index: number) => `Bee ${client} ${index} ${'dances '.repeat(5)}`;
    const fill = async (client: number): Promise<string> => {
      const session = await server.session();
      const agent = await session.createAgent({ graph: graph({ scope: 'agent' }) });
      const own = Array.from({ length: 200 }, (_, index) => ({
        id: `${index}`,
        text: text(client, index).slice(0, 100),
      }));
      for (let batch = 0; ; batch++) {
        const add = own.map(({ id, text: said }) => ({ id: `${batch}-${id}`, text: said }));
        const refused = await session.updateEmbeddedStringStorage({ name: storage, add }).then(
          () => undefined,
          (error: { code: number; details: { field: string } }) => error,
        );
        if (refused === undefined) continue;
        expect(refused.code).toBe(8021);
        for (let index = 0; ; index++) {
          const turn = await agent.turn(text(client, index));
          if (turn.status === 'completed') continue;
          expect(turn.error?.code).toBe(8021);
          return refused.details.field;
        }
      }
    };
    const fields = [await fill(1), await fill(2)];
    expect(fields).toEqual(['memories_client_max_mb', expect.stringMatching(/^memories_(client_)?max_mb$/)]);
    const bytes = filesIn(folder).reduce((sum, path) => sum + statSync(path).size, 0);
    expect(bytes).toBeLessThan(2.2 * 1024 * 1024);
    const third = await refusal(
      (async () => {
        const session = await server.session();
        const agent = await session.createAgent({ graph: graph({ scope: 'agent' }) });
        for (;;) {
          const { error } = await agent.turn(`Bee ${Math.random()} dances.`);
          if (error !== undefined) return Promise.reject(Object.assign(new Error(error.message), error));
        }
      })().catch(async (error) => {
        const { ServerError } = await import('../../src/protocol/errors.js');
        throw new ServerError(error.code, error.name, error.message, error.details);
      }),
    );
    expect([third.code, third.details.field]).toEqual([8021, 'memories_max_mb']);
  });
});

it('a memory at its limit of bytes is merged where that makes room: what was said again takes none', async () => {
  const folder = newFolder();
  const session = await (await serverAt(folder, { memories_client_max_mb: 1 })).session();
  const agent = await session.createAgent({ graph: graph({ scope: 'agent' }) });
  const bytes = () => filesIn(folder).reduce((sum, path) => sum + statSync(path).size, 0);
  const text = `Bees ${'dance '.repeat(20)}`;
  const add = Array.from({ length: 100 }, (_, n) => ({ id: `${n}`, text }));
  let most = 0;
  for (let batch = 0; batch < 12; batch++) {
    await session.updateEmbeddedStringStorage({ name: storage, add, upsert: true });
    most = Math.max(most, bytes());
  }
  expect(most).toBeGreaterThan(0.6 * 1024 * 1024);
  expect(most).toBeLessThan(1.1 * 1024 * 1024);
  const remove = add.map(({ id }) => id);
  await session.updateEmbeddedStringStorage({ name: storage, remove });
  expect((await agent.turn('Glaciers grind valleys.')).status).toBe('completed');
});

it('the operator forgets and adds records while a session has the memory open', async () => {
  const memories_dir = newFolder();
  const server = await serverAt(memories_dir);
  const session = await server.session();
  const agent = await session.createAgent({ graph: graph({ scope: 'agent' }) });
  await agent.turn('The amber key is below the third stone.');
  const { records } = await session.listRecords({ name: storage });
  const config = filesIn(memories_dir).find((path) => path.endsWith('kb.json')) as string;
  const none = async () => {
    throw new Error('the server does not answer');
  };
  const { signal } = new AbortController();
  const options = { verify: true, histories: true };
  const ids = records.map(({ id }) => id);
  const { removed, filesWith, histories } = await forgetEverywhere(config, ids, options, none, signal);
  expect({ removed, filesWith }).toEqual({ removed: 1, filesWith: [] });
  expect(histories).toEqual([]);
  expect(await updateThrough(config, { add: [{ id: 'own', text: 'Bees dance.' }] }, signal)).toMatchObject({
    added: 1,
  });
  expect(await textsOf(session)).toEqual(['Bees dance.']);
});

it('what a turn remembered is there after the server was killed at any time', async () => {
  // Makes the catalog and its model.
  await TestServer.start();
  const memories_dir = newFolder();
  const config = file('killed.json');
  writeFileSync(config, JSON.stringify({ models_catalog_path: catalogPath, logs_dir: '', memories_dir }));
  let secret: string | undefined;
  const acknowledged: string[] = [];
  for (let round = 0; round < rounds; round++) {
    const program = Program.run('dist/src/cli/main.js', 'serve', '--config', config, '--port', '0');
    const [, port] = await program.printed(/"port":(\d+)/);
    const client = await connect({ port: Number(port) });
    const session = await client.createSession();
    const agent = await session.createAgent({
      graph: graph({ scope: 'agent', ...(secret !== undefined && { secret }) }),
    });
    secret ??= secretOf(agent);
    const there = new Set(await textsOf(session));
    for (const text of acknowledged) expect(there.has(text), text).toBe(true);
    const pending = Array.from({ length: 8 }, async (_, index) => {
      const text = `Bee ${round}-${index} dances.`;
      const { status } = await agent.turn(text);
      if (status === 'completed') acknowledged.push(text);
      if (acknowledged.length % 5 === 4) program.child.kill('SIGKILL');
    });
    await Promise.allSettled(pending);
    program.child.kill('SIGKILL');
    await program.ended;
    await client.close().catch(() => {});
  }
  expect(acknowledged.length).toBeGreaterThan(rounds);
});
