/** What a client learns of histories that quote a forgotten text, and what else the server loses with it. */
import { describe, expect, it } from 'vitest';
import type { ClientAgent, ClientSession, Graph } from '../../src/client/index.js';
import { FakeTextModel } from '../helpers/fake-text-model.js';
import { TestServer } from './test-server.js';

const secret = 'The owl hides the amber key below the third stone.';
const name = 'docs';
const talker: Graph['nodes'][number] = { id: 'talker', type: 'generate', params: { history: { turns: 8 } } };
const records = [
  { id: 'secret', text: secret },
  { id: 'bees', text: 'Bees dance in the hive.' },
];

async function setting() {
  const says = { reply: `It is so: ${secret}` };
  const forgotten: string[][] = [];
  const model = Object.assign(new FakeTextModel({ reply: () => [says.reply] }), {
    forget: async (texts: readonly string[]) => {
      forgotten.push([...texts]);
      return 0;
    },
  });
  const server = await TestServer.start({ loadLanguageModel: async () => model });
  const clientWithTurn = async () => {
    const client = await server.connect();
    const session = await client.createSession();
    const agent = await session.createAgent({ graph: { nodes: [talker] } });
    await agent.turn('Where is the key?');
    return { client, session, agent };
  };
  const [own, other] = [await clientWithTurn(), await clientWithTurn()];
  await own.session.createEmbeddedStringStorage({ name, records, embeddingModel: 'tiny' });
  return { server, says, forgotten, own, other };
}

const replies = async (agent: ClientAgent) => (await agent.export()).turns.map(({ reply }) => reply);
const forget = (session: ClientSession, more: object = {}) =>
  session.forgetRecords({ name, ids: ['secret'], ...more });

describe('forgetting by a client', () => {
  it('names the histories of its own agents that quote the text, and no others', async () => {
    const { own, other, says } = await setting();
    says.reply = 'no';
    await own.agent.turn('And else?');
    const reply = await forget(own.session);
    expect(reply).toMatchObject({ forgotten: 1, recordCount: 1 });
    expect(reply.histories).toEqual([
      { sessionId: own.session.id, agentId: own.agent.id, turns: [1], removed: false },
    ]);
    expect(await replies(own.agent)).toHaveLength(2);
    expect(await replies(other.agent)).toHaveLength(1);
  });

  it('removes them if it is asked to, of all sessions of the client', async () => {
    const { own, other, server } = await setting();
    const second = await own.client.createSession();
    const agent = await second.createAgent({ graph: { nodes: [talker] } });
    await agent.turn('Where is the key?');
    const { histories } = await forget(own.session, { histories: true });
    expect(histories).toHaveLength(2);
    expect(histories.every(({ removed }) => removed)).toBe(true);
    expect([await replies(own.agent), await replies(agent)]).toEqual([[], []]);
    expect(await replies(other.agent)).toHaveLength(1);
    expect(server.port).toBeGreaterThan(0);
  });

  it('has the caches of language models lose it', async () => {
    const { own, forgotten } = await setting();
    await forget(own.session);
    expect(forgotten).toEqual([[secret.slice(0, -1)]]);
  });

  it('ends a turn that has quoted the text already, and names it', async () => {
    let begin = () => {};
    const second = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const model: FakeTextModel = Object.assign(
      new FakeTextModel({
        reply: () => [`It is so: ${secret}`],
        pause: async (_, signal) => {
          if (model.requests.length === 1) return;
          begin();
          await new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve()));
        },
      }),
      { forget: async () => 0 },
    );
    const session = await (await TestServer.start({ loadLanguageModel: async () => model })).session();
    await session.createEmbeddedStringStorage({ name, records, embeddingModel: 'tiny' });
    const graph: Graph = { nodes: [talker, { id: 'more', type: 'generate', params: {} }] };
    const agent = await session.createAgent({ graph });
    const turn = agent.turn('Where is the key?');
    await second;
    const { histories } = await forget(session);
    expect(histories).toMatchObject([{ agentId: agent.id, turns: [1], removed: false }]);
    expect(await turn).toMatchObject({ status: 'cancelled' });
  });
});
