import { expect, it } from 'vitest';
import type { ClientAgent, ClientSession, Graph } from '../../src/client/index.js';
import { temporaryFolder } from '../helpers/folder.js';
import { random, testSeed } from '../helpers/random.js';
import { repetitions } from '../helpers/repetitions.js';
import { TestServer } from './test-server.js';

const file = temporaryFolder();
const turns = repetitions('MEMORY_TURNS', 300, 10_000);
const owners = 6;

const graph = (params: object): Graph => ({
  nodes: [
    {
      id: 'recall',
      type: 'retrieve',
      params: { embeddedStringStorage: 'memory', topK: 10, mode: 'hybrid', emit: true },
    },
    { id: 'keep', type: 'remember', params: { storage: 'memory', embeddingModel: 'tiny', ...params } },
  ],
});

/** Who remembers what: nobody else may see it. */
interface Owner {
  readonly name: string;
  readonly params: Record<string, unknown>;
  session: ClientSession;
  agent: ClientAgent;
  said: number;
}

it('no turn finds what another memory has, whatever the scopes, names and storages', async () => {
  const next = random(testSeed);
  const config = { memories_dir: file('memories'), storage_root: file() };
  const server = await TestServer.start({ config });
  const open = async (params: object) => {
    const session = await server.session();
    return { session, agent: await session.createAgent({ graph: graph(params) }) };
  };
  // All use one name for their storage, and those of scope name one name for their memory.
  const scopes = [{ scope: 'session' }, { scope: 'agent' }, { scope: 'name', name: 'Ann' }];
  const all: Owner[] = [];
  for (let index = 0; index < owners; index++) {
    const params: Record<string, unknown> = { ...scopes[index % scopes.length] };
    const opened = await open(params);
    params.secret = opened.agent.memories[0]?.secret;
    all.push({ name: `owner${index}`, params, ...opened, said: 0 });
  }
  let hits = 0;
  const turn = async (owner: Owner) => {
    const word = ['bees', 'glaciers', 'dances'][Math.floor(next() * 3)];
    const complete = await owner.agent.turn(`${owner.name} likes ${word} ${owner.said++}`);
    expect(complete.status, JSON.stringify(complete.error)).toBe('completed');
    for (const { text } of complete.hits ?? []) {
      hits++;
      expect(text.startsWith(`${owner.name} `), `${owner.name} found "${text}" (seed ${testSeed})`).toBe(
        true,
      );
    }
  };
  for (let done = 0; done < turns; done += owners) {
    await Promise.all(all.map(turn));
    const owner = all[Math.floor(next() * owners)] as Owner;
    if (next() < 0.05 && owner.params.secret !== undefined) {
      await owner.session.destroy();
      Object.assign(owner, await open(owner.params));
    }
    if (next() < 0.05) {
      const { records } = await owner.session.listRecords({ name: 'memory', limit: 5 });
      const ids = records.slice(0, 2).map(({ id }) => id);
      await owner.session.forgetRecords({ name: 'memory', ids });
    }
  }
  expect(hits).toBeGreaterThan(turns);
  for (const owner of all) {
    const { records } = await owner.session.listRecords({ name: 'memory', limit: 1000 });
    expect(records.length).toBeGreaterThan(0);
    for (const { text } of records) expect(text.startsWith(`${owner.name} `)).toBe(true);
  }
});
