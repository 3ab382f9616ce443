import { expect, it, onTestFinished, vi } from 'vitest';
import { EmbeddingModel, Storage } from '../../lib/index.js';
import type { ServerFrames } from '../../src/protocol/frames.js';
import { FakeTextModel } from '../helpers/fake-text-model.js';
import { strings } from './corpus.js';
import { retrieveGraph, TestServer, type TestServerOptions } from './test-server.js';

/** A step of a search that goes on until its signal is aborted; `reached` resolves with the signal. */
function held() {
  let tell: (signal: AbortSignal) => void;
  const reached = new Promise<AbortSignal>((resolve) => {
    tell = resolve;
  });
  const step = (signal: AbortSignal): Promise<never> =>
    new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      tell(signal);
    });
  return { reached, step };
}

/** An agent with a session of its own, and what its turns are asked and told by. */
async function makeScene(graph: object = retrieveGraph(), options: TestServerOptions = {}) {
  const raw = await (await TestServer.start(options)).raw();
  const session = { type: 'CreateSessionRequest', id: 'session' };
  const { session_id } = await raw.request<ServerFrames['CreateSessionResponse']>(session);
  const docs = { name: 'docs', strings, embedding_model: 'tiny' };
  await raw.request({ type: 'CreateEmbeddedStringStorageRequest', id: 'docs', session_id, ...docs });
  const agent = {
    type: 'CreateAgentRequest',
    id: 'agent',
    session_id,
    enable_diagnostics: true,
    graph,
  };
  const { agent_id } = await raw.request<ServerFrames['CreateAgentResponse']>(agent);
  const start = async (id: number) => {
    const turn = { type: 'TurnRequest', id, session_id, agent_id, text: 'bees' };
    return (await raw.request<ServerFrames['TurnStarted']>(turn)).turn_id;
  };
  let cancellations = 0;
  const cancel = (turn_id: string) =>
    raw.request({ type: 'CancelTurnRequest', id: `cancel ${++cancellations}`, session_id, turn_id });
  const end = (turn_id: string) =>
    raw.next<ServerFrames['TurnComplete']>(
      (frame) => frame.type === 'TurnComplete' && frame.turn_id === turn_id,
    );
  return { raw, start, cancel, end };
}

const cancelled = { status: 'cancelled', text: '' };

it('a turn is cancelled while it embeds, and the next one runs', async () => {
  const { start, cancel, end } = await makeScene();
  const { reached, step } = held();
  const embed = vi.spyOn(EmbeddingModel.prototype, 'embedSettled');
  onTestFinished(() => embed.mockRestore());
  embed.mockImplementationOnce((_, options) => step(options?.signal as AbortSignal));
  const [first, second] = [await start(1), await start(2)];
  const signal = await reached;
  expect(await cancel(first)).toMatchObject({ type: 'Ack' });
  expect(await end(first)).toMatchObject(cancelled);
  expect(signal.aborted).toBe(true);
  expect(await end(second)).toMatchObject({ status: 'completed' });
});

it('a turn is cancelled while it searches, and the next one runs', async () => {
  const { start, cancel, end } = await makeScene();
  const { reached, step } = held();
  const search = vi.spyOn(Storage.prototype, 'searchInSlices');
  onTestFinished(() => search.mockRestore());
  search.mockImplementationOnce(({ signal }) => step(signal as AbortSignal));
  const [first, second] = [await start(1), await start(2)];
  const signal = await reached;
  expect(await cancel(first)).toMatchObject({ type: 'Ack' });
  expect(await end(first)).toMatchObject(cancelled);
  expect(signal.aborted).toBe(true);
  expect(await end(second)).toMatchObject({ status: 'completed' });
});

it('a turn is cancelled while it generates, and its diagnostics have what was done', async () => {
  const untilAborted = (signal: AbortSignal | undefined) =>
    new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve(), { once: true }));
  const model = new FakeTextModel({
    reply: () => ['One ', 'two'],
    pause: async (index, signal) => (index === 1 ? untilAborted(signal) : undefined),
  });
  const graph = { nodes: [{ id: 'talker', type: 'generate', params: {} }] };
  const { raw, start, cancel, end } = await makeScene(graph, {
    config: { include_engine_diagnostics: true },
    loadLanguageModel: async () => model,
  });
  const turn = await start(1);
  await raw.next(({ type }) => type === 'TurnText');
  await cancel(turn);
  const { diagnostics, debug_info, ...complete } = await end(turn);
  expect(complete).toMatchObject({ status: 'cancelled', text: 'One ', finish: 'cancelled' });
  expect(diagnostics?.nodes).toMatchObject([{ node: 'talker', finish: 'cancelled', completion_tokens: 1 }]);
  expect(debug_info?.nodes).toMatchObject([{ diagnostics: { engine: { finish: 'cancelled' } } }]);
});

it('a turn is cancelled while it waits for another, which goes on', async () => {
  const { raw, start, cancel, end } = await makeScene();
  const { reached, step } = held();
  const embed = vi.spyOn(EmbeddingModel.prototype, 'embedSettled');
  onTestFinished(() => embed.mockRestore());
  embed.mockImplementationOnce((_, options) => step(options?.signal as AbortSignal));
  const [first, second, third] = [await start(1), await start(2), await start(3)];
  const signal = await reached;
  expect(await cancel(second)).toMatchObject({ type: 'Ack' });
  expect(await end(second)).toMatchObject(cancelled);
  expect([signal.aborted, raw.received.filter(({ type }) => type === 'TurnComplete').length]).toEqual([
    false,
    1,
  ]);
  expect(await cancel(second)).toMatchObject({ type: 'Error', code: 4008, details: { ended: true } });
  await cancel(first);
  expect(await end(first)).toMatchObject(cancelled);
  expect(await end(third)).toMatchObject({ status: 'completed' });
});

it('a turn that is cancelled before its time has waited and not run, as its diagnostics say', async () => {
  const { start, cancel, end } = await makeScene();
  const { step } = held();
  const embed = vi.spyOn(EmbeddingModel.prototype, 'embedSettled');
  onTestFinished(() => embed.mockRestore());
  embed.mockImplementationOnce((_, options) => step(options?.signal as AbortSignal));
  const [first, second] = [await start(1), await start(2)];
  await cancel(second);
  const { diagnostics } = await end(second);
  expect(diagnostics).toMatchObject({ duration_ms: 0, nodes: [] });
  expect(diagnostics?.queued_ms).toBeGreaterThan(0);
  await cancel(first);
});
