import { mkdirSync, writeFileSync } from 'node:fs';
import { beforeAll, expect, it } from 'vitest';
import type { ClientAgent, ClientSession } from '../../src/client/index.js';
import { temporaryFolder } from '../helpers/folder.js';
import { random, testSeed } from '../helpers/random.js';
import { retrieveGraph, TestServer } from './test-server.js';

/** Random lives of storages, agents and sessions of three clients, beside a model that says what each request must find. */

const inFolder = temporaryFolder();
const files = ['a/kb.json', 'b/kb.json'];
const names = ['x', 'y', 'z'];
const textOf = (file: string) => `bees of ${file}`;

beforeAll(() => {
  for (const file of files) {
    mkdirSync(inFolder(file, '..'), { recursive: true });
    writeFileSync(inFolder(file), JSON.stringify({ embedding_model: 'tiny', records_file: 'records.json' }));
    writeFileSync(inFolder(file, '../records.json'), JSON.stringify([{ id: 'r', text: textOf(file) }]));
  }
});

interface Life {
  session: ClientSession;
  /** What the storage of a name finds. */
  named: Map<string, string>;
  agents: { agent: ClientAgent; text: string }[];
}

/** The code of an error; 0: there was none. */
const codeOf = (request: Promise<unknown>): Promise<number> =>
  request.then(
    () => 0,
    (error: { code: number }) => error.code,
  );

it('names, pins and ends belong to the session, whatever the others do', async () => {
  const server = await TestServer.start({ config: { storage_root: inFolder(), storage_cache_max_mb: 1 } });
  const clients = [await server.connect(), await server.connect(), await server.connect()];
  const next = random(testSeed);
  const pick = <Item>(items: readonly Item[]) => items[Math.floor(next() * items.length)] as Item;
  const lives: Life[] = [];
  let step = 0;

  const begin = async () => {
    const client = Math.floor(next() * clients.length);
    const session = await (clients[client] as (typeof clients)[number]).createSession();
    lives.push({ session, named: new Map(), agents: [] });
  };
  const actions: ((life: Life, name: string) => Promise<void>)[] = [
    async ({ session, named }, name) => {
      const text = `bees of step ${step}`;
      const making = session.createEmbeddedStringStorage({ name, strings: [text], embeddingModel: 'tiny' });
      expect(await codeOf(making)).toBe(named.has(name) ? 8002 : 0);
      if (!named.has(name)) named.set(name, text);
    },
    async ({ session, named }, name) => {
      const configPath = pick(files);
      const making = session.createEmbeddedStringStorage({ name, configPath });
      expect(await codeOf(making)).toBe(named.has(name) ? 8002 : 0);
      if (!named.has(name)) named.set(name, textOf(configPath));
    },
    async ({ session, named }, name) => {
      expect(await codeOf(session.destroyEmbeddedStringStorage(name))).toBe(named.delete(name) ? 0 : 8005);
    },
    async ({ session, named }) => {
      const name = pick([...names, ...files]);
      const expected = files.includes(name) ? textOf(name) : named.get(name);
      const search = session.search({ name, text: 'bees' });
      if (expected === undefined) expect(await codeOf(search)).toBe(8005);
      else expect((await search).hits.map(({ text }) => text)).toEqual([expected]);
    },
    async ({ session, named, agents }) => {
      const name = pick([...names, ...files]);
      const text = files.includes(name) ? textOf(name) : named.get(name);
      const graph = retrieveGraph({ embedded_string_storage: name, emit: true });
      const making = session.createAgent({ graph });
      expect(await codeOf(making)).toBe(text === undefined ? 3010 : 0);
      if (text !== undefined) agents.push({ agent: await making, text });
    },
    async ({ agents }) => {
      for (const { agent, text } of agents.slice(-2))
        expect((await agent.turn('bees')).hits?.map((hit) => hit.text)).toEqual([text]);
    },
    async ({ agents }) => {
      const [oldest] = agents.splice(0, 1);
      await oldest?.agent.destroy();
    },
  ];

  for (; step < 600; step++) {
    if (lives.length === 0 || next() < 0.03) await begin();
    const life = pick(lives);
    if (next() < 0.02) {
      lives.splice(lives.indexOf(life), 1);
      await life.session.destroy();
      expect(await codeOf(life.session.search({ name: 'x', text: 'bees' }))).toBe(2001);
    } else await pick(actions)(life, pick(names));
  }
  for (const { session } of lives) await session.destroy();
  expect(server.server.storages.map(({ state, pins }) => [state, pins])).toEqual(
    server.server.storages.map(() => ['OnDemand', 0]),
  );
  const { by_kind } = server.server.memory.status;
  expect(by_kind).toMatchObject({ sessions: 0, storages: 0, agents: 0, turns: 0 });
});
