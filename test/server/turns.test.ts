import { describe, expect, it } from 'vitest';
import { untilAborted } from '../../src/base/waiting/until-aborted.js';
import type { Graph } from '../../src/client/index.js';
import type { ServerFrame, ServerFrames } from '../../src/protocol/frames.js';
import { FakeTextModel } from '../helpers/fake-text-model.js';
import { strings } from './corpus.js';
import type { RawClient } from './raw-client.js';
import { retrieveGraph, TestServer } from './test-server.js';

interface Agent {
  raw: RawClient;
  session_id: string;
  agent_id: string;
}

/** A session with the storage "docs" and one agent, all three asked for without waiting for the storage. */
async function agentOf(raw: RawClient): Promise<Agent> {
  const { session_id } = await raw.request<ServerFrames['CreateSessionResponse']>({
    type: 'CreateSessionRequest',
    id: 'session',
  });
  const storage = { name: 'docs', strings, embedding_model: 'tiny' };
  raw.send({ type: 'CreateEmbeddedStringStorageRequest', id: 'docs', session_id, ...storage });
  const agent = {
    type: 'CreateAgentRequest',
    id: 'agent',
    session_id,
    graph: retrieveGraph(),
    enable_diagnostics: true,
  };
  const { agent_id } = await raw.request<ServerFrames['CreateAgentResponse']>(agent);
  return { raw, session_id, agent_id };
}

const turnRequest = ({ session_id, agent_id }: Agent, id: number, text = 'Why do bees dance?') => ({
  type: 'TurnRequest',
  id,
  session_id,
  agent_id,
  text,
});

const started = (raw: RawClient, id: number) =>
  raw.next<ServerFrames['TurnStarted']>((frame) => frame.type === 'TurnStarted' && frame.reply_to === id);

const completed = (raw: RawClient, turn_id: string) =>
  raw.next<ServerFrames['TurnComplete']>(
    (frame) => frame.type === 'TurnComplete' && frame.turn_id === turn_id,
  );

const isComplete = (frame: ServerFrame): frame is ServerFrames['TurnComplete'] =>
  frame.type === 'TurnComplete';

describe('turns', () => {
  it('of one agent are announced and run in the order of their requests', async () => {
    const agent = await agentOf(await (await TestServer.start()).raw());
    const { raw } = agent;
    raw.send(...[1, 2, 3, 4, 5].map((id) => turnRequest(agent, id)));
    const announced = await Promise.all([1, 2, 3, 4, 5].map((id) => started(raw, id)));
    const ids = announced.map(({ turn_id }) => turn_id);
    await Promise.all(ids.map((id) => completed(raw, id)));
    const turnsOf = (type: ServerFrame['type']) =>
      raw.received.flatMap((frame) => (frame.type === type && 'turn_id' in frame ? [frame.turn_id] : []));
    expect(turnsOf('TurnStarted')).toEqual(ids);
    expect(turnsOf('TurnComplete')).toEqual(ids);
  });

  it('of different agents run side by side', async () => {
    const agent = await agentOf(await (await TestServer.start()).raw());
    const { raw, session_id } = agent;
    const request = {
      type: 'CreateAgentRequest',
      id: 'b',
      session_id,
      graph: retrieveGraph(),
      enable_diagnostics: true,
    };
    const other = { ...agent, ...(await raw.request<ServerFrames['CreateAgentResponse']>(request)) };
    raw.send(...Array.from({ length: 20 }, (_, index) => turnRequest(agent, index)), turnRequest(other, 99));
    const { turn_id } = await started(raw, 99);
    await completed(raw, turn_id);
    const done = raw.received.filter(isComplete).findIndex((frame) => frame.turn_id === turn_id);
    expect(done).toBeLessThan(20);
  });

  it('are cancelled while they wait, at once and without disturbing the running one', async () => {
    const agent = await agentOf(await (await TestServer.start()).raw());
    const { raw, session_id } = agent;
    raw.send(...[1, 2, 3].map((id) => turnRequest(agent, id)));
    const [first, second, third] = await Promise.all([1, 2, 3].map((id) => started(raw, id)));
    raw.send({ type: 'CancelTurnRequest', id: 'cancel', session_id, turn_id: second?.turn_id });
    const replying = raw.next((frame) => 'reply_to' in frame && frame.reply_to === 'cancel');
    const statuses = await Promise.all(
      [first, second, third].map((turn) => completed(raw, turn?.turn_id ?? '')),
    );
    const second_status = statuses[1]?.status;
    // The cancellation may cross the turn's end on a fast machine; then its request says so.
    const reply = await replying;
    expect([reply.type, second_status]).toEqual(
      reply.type === 'Ack' ? ['Ack', 'cancelled'] : ['Error', 'completed'],
    );
    expect([statuses[0]?.status, statuses[2]?.status]).toEqual(['completed', 'completed']);
  });

  it('sent together with their cancellation end as cancelled, whatever phase it met', async () => {
    const agent = await agentOf(await (await TestServer.start()).raw());
    const { raw, session_id } = agent;
    for (let round = 1; round <= 20; round++) {
      // Ids are given in order, so that the cancellation need not wait for TurnStarted.
      const turn_id = `${session_id}.t${round}`;
      raw.send(turnRequest(agent, round), {
        type: 'CancelTurnRequest',
        id: `c${round}`,
        session_id,
        turn_id,
      });
      const [complete, reply] = await Promise.all([
        completed(raw, turn_id),
        raw.next((frame) => 'reply_to' in frame && frame.reply_to === `c${round}`),
      ]);
      expect([reply.type, complete.status]).toEqual(['Ack', 'cancelled']);
    }
    raw.send(turnRequest(agent, 99));
    expect(await completed(raw, (await started(raw, 99)).turn_id)).toMatchObject({ status: 'completed' });
  });

  it('cannot be cancelled once they have ended', async () => {
    const agent = await agentOf(await (await TestServer.start()).raw());
    const { raw, session_id } = agent;
    raw.send(turnRequest(agent, 1));
    const { turn_id } = await started(raw, 1);
    await completed(raw, turn_id);
    const reply = await raw.request({ type: 'CancelTurnRequest', id: 2, session_id, turn_id });
    expect(reply).toMatchObject({ type: 'Error', code: 4008, name: 'TurnNotFound' });
  });

  it('end as cancelled when their agent is destroyed, before it answers', async () => {
    const agent = await agentOf(await (await TestServer.start()).raw());
    const { raw, session_id, agent_id } = agent;
    raw.send(...[1, 2, 3].map((id) => turnRequest(agent, id)), {
      type: 'DestroyAgentRequest',
      id: 4,
      session_id,
      agent_id,
    });
    const position = async (fits: (frame: ServerFrame) => boolean) =>
      raw.received.indexOf(await raw.next(fits));
    const acknowledged = await position((frame) => frame.type === 'Ack' && frame.reply_to === 4);
    const ends = raw.received.filter(isComplete);
    expect(ends.map(({ status }) => status)).toEqual(['cancelled', 'cancelled', 'cancelled']);
    for (const end of ends) expect(raw.received.indexOf(end)).toBeLessThan(acknowledged);
  });

  it.each(['the agent is destroyed', 'the client leaves'])(
    'of a full queue end one after the other when %s, and none of them begins',
    async (end) => {
      const model = new FakeTextModel({
        pause: (_, signal) => untilAborted(new Promise(() => {}), signal as AbortSignal),
      });
      const server = await TestServer.start({ loadLanguageModel: async () => model });
      const raw = await server.raw();
      const { session_id } = await raw.request<ServerFrames['CreateSessionResponse']>({
        type: 'CreateSessionRequest',
        id: 'session',
      });
      const graph = { nodes: [{ id: 'talk', type: 'generate' }] };
      const create = { type: 'CreateAgentRequest', id: 'agent', session_id, graph };
      const { agent_id } = await raw.request<ServerFrames['CreateAgentResponse']>(create);
      const agent = { raw, session_id, agent_id };
      raw.send(...Array.from({ length: 1000 }, (_, id) => turnRequest(agent, id)));
      const { turn_id } = await started(raw, 999);
      await expect.poll(() => model.requests.length).toBe(1);
      if (end === 'the client leaves') {
        raw.destroy();
        await expect.poll(() => server.server.connections).toBe(0);
        await server.server.close();
      } else {
        raw.send({ type: 'DestroyAgentRequest', id: 'end', session_id, agent_id });
        await raw.next((frame) => 'reply_to' in frame && frame.reply_to === 'end');
        expect(await completed(raw, turn_id)).toMatchObject({ status: 'cancelled' });
        expect(raw.received.filter(isComplete).map(({ status }) => status)).toEqual(
          Array(1000).fill('cancelled'),
        );
      }
      expect(model.requests).toHaveLength(1);
    },
  );

  it('are refused with 4009 when the session has too many unfinished ones', async () => {
    const agent = await agentOf(await (await TestServer.start()).raw());
    const { raw } = agent;
    raw.send(...Array.from({ length: 1_400 }, (_, index) => turnRequest(agent, index)));
    const replies = await Promise.all(
      Array.from({ length: 1_400 }, (_, id) =>
        raw.next((frame) => 'reply_to' in frame && frame.reply_to === id),
      ),
    );
    const accepted = replies.filter(({ type }) => type === 'TurnStarted') as ServerFrames['TurnStarted'][];
    const refused = replies.filter(({ type }) => type === 'Error');
    expect(accepted.length).toBeGreaterThanOrEqual(1_024);
    expect(accepted.length + refused.length).toBe(1_400);
    for (const error of refused) expect(error).toMatchObject({ code: 4009, name: 'TurnQueueFull' });
    for (const { turn_id } of accepted)
      expect(await completed(raw, turn_id)).toMatchObject({ status: 'completed' });
  });

  it('abort through the client: the promise rejects with the reason and the turn is cancelled', async () => {
    const session = await (await TestServer.start()).session();
    await session.createEmbeddedStringStorage({ name: 'docs', strings, embeddingModel: 'tiny' });
    const agent = await session.createAgent({ graph: retrieveGraph() });
    const reason = new Error('enough');
    await expect(agent.turn('bees', { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    const controller = new AbortController();
    const turns = [1, 2, 3].map(() => agent.turn('bees', { signal: controller.signal }));
    controller.abort(reason);
    expect(
      (await Promise.allSettled(turns)).map((turn) => turn.status === 'rejected' && turn.reason),
    ).toEqual([reason, reason, reason]);
    expect(await agent.turn('bees')).toMatchObject({ status: 'completed' });
  });
});

describe('an agent', () => {
  it('keeps the storage that it was made with, though the name is destroyed and made anew', async () => {
    const session = await (await TestServer.start()).session();
    const docs = { name: 'docs', strings, embeddingModel: 'tiny' };
    await session.createEmbeddedStringStorage(docs);
    const agent = await session.createAgent({ graph: retrieveGraph(), enableDiagnostics: true });
    await session.destroyEmbeddedStringStorage('docs');
    await session.createEmbeddedStringStorage({ ...docs, strings: ['something else'] });
    const turn = await agent.turn('Why do bees dance?');
    expect(turn).toMatchObject({
      status: 'completed',
      diagnostics: { nodes: [{ plan: { dense: { matched: strings.length } } }] },
    });
    expect((await session.search({ name: 'docs', text: 'bees' })).plan.dense?.matched).toBe(1);
  });

  it('is not made when one of its nodes has no storage, and the others are let go', async () => {
    const session = await (await TestServer.start()).session();
    await session.createEmbeddedStringStorage({ name: 'docs', strings, embeddingModel: 'tiny' });
    const params = { embedded_string_storage: 'other' };
    const graph: Graph = { nodes: [...retrieveGraph().nodes, { id: 'b', type: 'retrieve', params }] };
    await expect(session.createAgent({ graph })).rejects.toMatchObject({ code: 3010 });
    await session.destroyEmbeddedStringStorage('docs');
  });
});
