import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { FilterExpression } from '../../lib/index.js';
import { connect, type Graph } from '../../src/client/index.js';
import type { ServerFrames } from '../../src/protocol/frames.js';
import { FakeTextModel } from '../helpers/fake-text-model.js';
import { temporaryFolder } from '../helpers/folder.js';
import { random, testSeed } from '../helpers/random.js';
import { repetitions } from '../helpers/repetitions.js';
import { TestServer } from './test-server.js';

const file = temporaryFolder();

/** Turns of all agents together; 10,000 take about five minutes. */
const turns = repetitions('TURNS', 48, 200);
const agents = 5;

/** Records of five owners, each with words that name the owner. */
const owners = ['ada', 'bob', 'cyd', 'dan', 'eve'];

function writeKnowledgeBase(): void {
  const records = Array.from({ length: 60 }, (_, index) => {
    const owner = owners[index % owners.length] as string;
    const text = `Bees and glaciers, note ${index}: the secret of ${owner} is secret-${owner}-${index}.`;
    return { id: `${owner}-${index}`, text, metadata: { owner, level: index } };
  });
  writeFileSync(file('records.json'), JSON.stringify(records));
  const fields = [
    { name: 'owner', type: 'string', optional: true },
    { name: 'level', type: 'int', optional: true },
  ];
  const config = { embedding_model: 'tiny', records_file: 'records.json', fields };
  writeFileSync(file('kb.json'), JSON.stringify(config));
}

const filter: FilterExpression = {
  and: [
    { '==': [{ knowledge: 'owner' }, { variable: 'owner' }] },
    { '<': [{ knowledge: 'level' }, { variable: 'level' }] },
  ],
};

describe('turns with changing filter variables', () => {
  it('never have an excluded record in a prompt, reply, citation or diagnostics, of several agents at once', async () => {
    writeKnowledgeBase();
    // The reply quotes its whole prompt, and cites everything in it.
    const model = new FakeTextModel({
      reply: (_, messages) => [messages.at(-1)?.content ?? '', ' [1] [2] [3]'],
    });
    const config = {
      storage_root: file(),
      include_engine_diagnostics: true,
      include_interaction_in_diagnostics: true,
    };
    const server = await TestServer.start({ config, loadLanguageModel: async () => model });
    const session = await server.session();
    const graph: Graph = {
      nodes: [
        {
          id: 'kb',
          type: 'retrieve',
          params: { embeddedStringStorage: 'kb.json', mode: 'hybrid', topK: 3, filter },
        },
        { id: 'talker', type: 'generate', params: { cite: 'marks', history: { turns: 0 } } },
      ],
    };
    const next = random(testSeed);
    const talk = async () => {
      const agent = await session.createAgent({ graph, enableDiagnostics: true });
      for (let turn = 0; turn < turns / agents; turn++) {
        const owner = owners[Math.floor(next() * owners.length)] as string;
        const level = Math.floor(next() * 60);
        const complete = await agent.turn('secret of bees', { variables: { owner, level } });
        expect(complete.status, `seed ${testSeed}`).toBe('completed');
        const seen = [...JSON.stringify(complete).matchAll(/secret-(\w+)-(\d+)/g)];
        const matching = Array.from({ length: level }, (_, index) => index).filter(
          (index) => owners[index % 5] === owner,
        );
        const cited = new Set(complete.citations?.map(({ id }) => id));
        expect(cited.size).toBe(Math.min(3, matching.length));
        for (const [, whose, index] of seen) expect([whose, Number(index) < level]).toEqual([owner, true]);
        for (const { id } of complete.citations ?? []) expect(id.startsWith(`${owner}-`)).toBe(true);
      }
    };
    await Promise.all(Array.from({ length: agents }, talk));
    expect(model.prompts).toHaveLength(Math.ceil(turns / agents) * agents);
    for (const messages of model.prompts) {
      const told = messages.map(({ content }) => content).join('\n');
      const whose = new Set([...told.matchAll(/secret-(\w+)-\d+/g)].map(([, owner]) => owner));
      expect(whose.size).toBeLessThanOrEqual(1);
    }
  });
});

describe('a client that does not read its replies', () => {
  it('slows nobody else', async () => {
    const long = Array.from({ length: 3000 }, (_, index) => `piece ${index} ${'x'.repeat(2000)}\n`);
    const model = new FakeTextModel({
      reply: (_, messages) => (messages.at(-1)?.content === 'long' ? long : ['short']),
    });
    const server = await TestServer.start({ loadLanguageModel: async () => model });
    const raw = await server.raw();
    const { session_id } = await raw.request<ServerFrames['CreateSessionResponse']>({
      type: 'CreateSessionRequest',
      id: 1,
    });
    const graph: Graph = { nodes: [{ id: 'talker', type: 'generate' }] };
    const { agent_id } = await raw.request<ServerFrames['CreateAgentResponse']>({
      type: 'CreateAgentRequest',
      id: 2,
      session_id,
      graph,
    });
    raw.socket.pause();
    raw.send({ type: 'TurnRequest', id: 3, session_id, agent_id, text: 'long' });
    await using client = await connect({ port: server.port });
    const agent = await (await client.createSession()).createAgent({ graph });
    for (let turn = 0; turn < 20; turn++) expect((await agent.turn('x')).text).toBe('short');
    raw.socket.resume();
    const complete = await raw.next<ServerFrames['TurnComplete']>(({ type }) => type === 'TurnComplete');
    expect(complete.text).toBe(long.join(''));
  });
});
