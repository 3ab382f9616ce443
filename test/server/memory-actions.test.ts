import { describe, expect, it } from 'vitest';
import type { ClientAgent, ClientSession, ForgetProposal, Graph } from '../../src/client/index.js';
import { refusal } from '../helpers/errors.js';
import { FakeTextModel } from '../helpers/fake-text-model.js';
import { TestServer } from './test-server.js';

const storage = 'memory';
const action = (name: string, given: object) => JSON.stringify({ action: name, arguments: given });

/** An agent whose model says what `says` holds. */
async function setting(generate: object = {}, remember: object = {}) {
  const says = { reply: 'ok' };
  const model = new FakeTextModel({ reply: () => [says.reply] });
  const server = await TestServer.start({ loadLanguageModel: async () => model });
  const session = await server.session();
  const graphWith = (params: object, more: object = {}): Graph => ({
    nodes: [
      { id: 'talker', type: 'generate', params: { memory: 'keep', ...params } },
      {
        id: 'keep',
        type: 'remember',
        params: { storage, embeddingModel: 'tiny', speakers: ['user'], condition: ' ', ...more },
      },
    ],
  });
  const agent = await session.createAgent({ graph: graphWith(generate, remember), enableDiagnostics: true });
  return { server, session, agent, model, says, graphWith };
}

const add = (session: ClientSession, ...texts: string[]) =>
  session.updateEmbeddedStringStorage({
    name: storage,
    add: texts.map((text, index) => ({ id: `r${index}`, text })),
  });

const textsOf = async (session: ClientSession) =>
  (await session.listRecords({ name: storage })).records.map(({ text }) => text);

const proposals = async (agent: ClientAgent, answer: (proposal: ForgetProposal) => boolean | string[]) => {
  const asked: ForgetProposal[] = [];
  const turn = await agent.turn('Please forget it.', {
    onForget: (proposal) => {
      asked.push(proposal);
      return answer(proposal);
    },
  });
  return { asked, turn };
};

describe('the actions of a memory', () => {
  it('are offered to the model with those of the client, and only remember and forget stay on the server', async () => {
    const { agent, model, says } = await setting({ actions: [{ name: 'wave' }] });
    says.reply = `I wave. ${action('wave', {})}`;
    expect(await agent.turn('Hello!')).toMatchObject({ text: 'I wave.', action: { name: 'wave' } });
    const system = model.prompts[0]?.[0]?.content ?? '';
    for (const name of ['wave', 'remember', 'forget']) expect(system).toContain(`- ${name}`);
    expect(String(model.requests[0]?.grammar)).toMatch(/forget/);
    says.reply = `I keep it. ${action('remember', { text: 'Bees dance.', subject: 'Bees', importance: 1 })}`;
    const turn = await agent.turn('Bees dance.');
    expect(turn).not.toHaveProperty('action');
    expect(turn).toMatchObject({
      text: 'I keep it.',
      memory: [{ node: 'keep', storage, remembered: [{ text: 'Bees dance.', change: 'added' }] }],
    });
  });

  it('remember keeps what the agent decided', async () => {
    const { agent, session, says } = await setting();
    says.reply = action('remember', { text: 'Bees dance.', subject: 'The Bees', importance: 1 });
    await agent.turn('Hello!');
    const { records } = await session.listRecords({ name: storage });
    expect(records).toMatchObject([
      {
        text: 'Bees dance.',
        metadata: { kind: 'decided', speaker: 'agent', subject: 'the bees', importance: 1, count: 1 },
      },
    ]);
    await agent.turn('Hello!');
    expect((await session.listRecords({ name: storage })).records[0]?.metadata?.count).toBe(2);
    says.reply = action('remember', { text: '  ' });
    expect((await agent.turn('Hello!')).memory).toBeUndefined();
    says.reply = action('remember', { text: 'Bees sing.' });
    expect((await agent.turn('Hello!', { asOf: { [storage]: 0 } })).memory).toBeUndefined();
    expect(await textsOf(session)).toEqual(['Bees dance.']);
  });

  it('forget asks the client, and forgets what it confirms', async () => {
    const { agent, session, says } = await setting();
    await add(session, 'Bees dance in the hive.', 'Glaciers grind valleys.', 'Bees dance at night.');
    says.reply = `Shall I? ${action('forget', { text: 'Bees dance' })}`;
    const { asked, turn } = await proposals(agent, () => ['r0']);
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({ node: 'keep', storage, expiresInMs: 60_000 });
    expect(asked[0]?.records.map(({ text }) => text).sort()).toEqual(
      ['Bees dance at night.', 'Bees dance in the hive.'].sort(),
    );
    expect(turn).toMatchObject({
      status: 'completed',
      text: 'Shall I?',
      memory: [{ forgotten: ['r0'], forget: 'confirmed', remembered: [] }],
    });
    expect((await textsOf(session)).sort()).toEqual(
      ['Bees dance at night.', 'Glaciers grind valleys.'].sort(),
    );
    const { turn: all } = await proposals(agent, () => true);
    expect(all.memory?.[0]?.forgotten).toEqual(['r2']);
    expect(await textsOf(session)).toEqual(['Glaciers grind valleys.']);
    const { turn: none, asked: noneAsked } = await proposals(agent, () => true);
    expect([none.memory?.[0]?.forget, noneAsked]).toEqual(['nothing', []]);
  });

  it('a record that was forgotten on request leaves the histories, the other turns and the monitor, too', async () => {
    const text = 'Bees dance in the old hive at night.';
    const { agent, session, says, server, model } = await setting();
    await add(session, text);
    says.reply = `You said: ${text}`;
    await agent.turn('What did I say?');
    says.reply = `Shall I? ${action('forget', { text: 'Bees dance in the old hive' })}`;
    const turn = await agent.turn('Please forget it.', { onForget: () => ({ histories: true }) });
    expect(turn.memory).toMatchObject([
      {
        forgotten: ['r0'],
        forget: 'confirmed',
        histories: [{ agentId: agent.id, turns: [1], removed: true }],
      },
    ]);
    expect(JSON.stringify(await agent.export())).not.toContain('old hive at night');
    says.reply = 'ok';
    await agent.turn('And now?');
    expect(JSON.stringify(model.prompts.at(-1))).not.toContain('old hive at night');
    expect(server.port).toBeGreaterThan(0);
  });

  it('forget changes nothing when it is declined, not answered, cancelled, or when nobody can answer', async () => {
    const { agent, session, says, server } = await setting({}, { confirmMs: 1000 });
    await add(session, 'Bees dance in the hive.');
    says.reply = action('forget', { text: 'Bees dance in the hive' });
    for (const answer of [false, []]) {
      const { turn } = await proposals(agent, () => answer);
      expect(turn.memory).toMatchObject([{ forgotten: [], forget: 'declined' }]);
    }
    expect((await agent.turn('Forget it.')).memory?.[0]?.forget).toBe('declined');
    const events = [];
    for await (const event of agent.stream('Forget it.')) events.push(event);
    expect(events.map(({ type }) => type)).toEqual(['TurnStarted', 'TurnForget', 'TurnComplete']);
    expect(events.at(-1)).toMatchObject({ memory: [{ forget: 'expired' }] });
    const late = events.find(({ type }) => type === 'TurnForget') as ForgetProposal;
    expect((await refusal(agent.confirmForget(late, true))).code).toBe(4020);
    for await (const event of agent.stream('Forget it.')) if (event.type === 'TurnForget') break;
    const thrown = agent.turn('Forget it.', {
      onForget: () => {
        throw new Error('the dialogue was closed');
      },
    });
    await expect(thrown).rejects.toThrow('the dialogue was closed');
    expect(await textsOf(session)).toEqual(['Bees dance in the hive.']);
    expect(server.port).toBeGreaterThan(0);
  });

  it('a confirmation names records of the event alone, and is of the session that was asked', async () => {
    const { agent, session, says, server } = await setting();
    await add(session, 'Bees dance in the hive.', 'Glaciers grind valleys.');
    const other = await server.session();
    says.reply = action('forget', { text: 'Bees dance in the hive' });
    const stranger = await other.createAgent({
      graph: { nodes: [{ id: 'n', type: 'quote' }] },
    });
    const { turn, asked } = await proposals(agent, () => true);
    expect(asked).toHaveLength(1);
    expect(turn.memory?.[0]?.forgotten).toEqual(['r0']);
    await add(session, 'Bees dance in the hive.');
    const codes: number[] = [];
    for await (const event of agent.stream('Forget it.')) {
      if (event.type !== 'TurnForget') continue;
      for (const request of [
        () => stranger.confirmForget(event, true),
        () => agent.confirmForget(event, ['r1']),
        () => agent.confirmForget({ forgetId: 's1.t999.f1' }, true),
      ])
        codes.push((await refusal(request())).code);
      await agent.confirmForget(event, true);
      codes.push((await refusal(agent.confirmForget(event, true))).code);
    }
    expect(codes).toEqual([4020, 1004, 4020, 4020]);
    expect(await textsOf(session)).toEqual(['Glaciers grind valleys.']);
  });

  it('reach the memory of their node alone', async () => {
    const { session, says, graphWith, agent } = await setting();
    const graph = graphWith({}, { storage: 'second' });
    const other = await session.createAgent({ graph });
    await add(session, 'Bees dance in the hive.');
    says.reply = action('forget', { text: 'Bees dance in the hive' });
    const { asked } = await proposals(other, () => true);
    expect(asked).toEqual([]);
    says.reply = action('remember', { text: 'Glaciers grind.' });
    await other.turn('Hello!');
    expect(await textsOf(session)).toEqual(['Bees dance in the hive.']);
    expect(agent.id).not.toBe(other.id);
  });

  it('exist only with a remember node, and beside no other constraint', async () => {
    const { session, graphWith } = await setting();
    const create = (params: object) => session.createAgent({ graph: graphWith(params) });
    const cases: [object, string][] = [
      [{ memory: 'kept' }, 'memory'],
      [{ memory: 'talker' }, 'memory'],
      [{ jsonSchema: {} }, 'memory'],
      [{ grammar: 'root ::= "a"' }, 'memory'],
      [{ stop: ['x'] }, 'stop'],
      [{ cite: 'verbatim' }, 'cite'],
      [{ actions: [{ name: 'wave' }, { name: 'forget' }] }, 'actions[1].name'],
    ];
    for (const [params, param] of cases) {
      const { code, details } = await refusal(create(params));
      expect([code, details.path], JSON.stringify(params)).toEqual([4003, `graph.nodes[0].params.${param}`]);
    }
    const alone: Graph = {
      nodes: [{ id: 'talker', type: 'generate', params: { actions: [{ name: 'remember' }] } }],
    };
    const agent = await session.createAgent({ graph: alone });
    expect(await agent.turn('Hello!')).not.toHaveProperty('memory');
  });
});
