import { describe, expect, it, vi } from 'vitest';
import type { ClientSession, ClientSpeech, SpeechEvent } from '../../src/client/index.js';
import { FakeRecogniser } from '../helpers/fake-recogniser.js';
import { FakeTextModel } from '../helpers/fake-text-model.js';
import { allEvents, s16, speechServer, spoken } from './speech-setting.js';

/** An agent that talks until it is stopped, with the texts that it hears. */
async function talking(recogniser: FakeRecogniser, script = Array.from({ length: 500 }, (_, i) => ` w${i}`)) {
  const model = new FakeTextModel({
    reply: () => script,
    pause: () => new Promise((resolve) => setTimeout(resolve, 5)),
  });
  const server = await speechServer({
    loadRecogniser: recogniser.load,
    loadLanguageModel: async () => model,
    config: { include_interaction_in_diagnostics: true },
  });
  const session = await server.session();
  const graph = {
    nodes: [{ id: 'say', type: 'generate' as const, params: { model: 'talker', history: { turns: 8 } } }],
  };
  const agent = await session.createAgent({ graph, enableDiagnostics: true });
  return { session, agent, model, server };
}

/** Has a model compute without a reply, until it is stopped. */
function neverReplies(model: FakeTextModel): void {
  model.generate = ((_: unknown, { signal }: { signal?: AbortSignal } = {}) => {
    const stopped = new Promise<never>((_, reject) =>
      signal?.addEventListener('abort', () => reject(signal.reason)),
    );
    stopped.catch(() => {});
    return {
      result: stopped,
      cancel: () => {},
      async *[Symbol.asyncIterator]() {
        yield await stopped;
      },
    };
  }) as unknown as typeof model.generate;
}

describe('speech to an agent', () => {
  const texts = (events: readonly SpeechEvent[]) =>
    events.flatMap((event) => (event.type === 'TurnStarted' ? [event.text] : []));

  it('is a turn when somebody stops speaking, with the times before it', async () => {
    const { session, agent } = await talking(new FakeRecogniser(() => 'Why do bees dance?'), ['Because.']);
    const speech = await session.openSpeech({ agentId: agent.id });
    const events = allEvents(speech);
    await speech.write(s16(spoken(1)));
    await speech.finish();
    const heard = await events;
    expect(texts(heard)).toEqual(['Why do bees dance?']);
    expect(heard.find(({ type }) => type === 'TurnComplete')).toMatchObject({
      status: 'completed',
      text: 'Because.',
      diagnostics: { speech: { silenceMs: expect.any(Number), recognitionMs: expect.any(Number) } },
    });
  });

  it('is recognised with the names in the storages of its agent, unless the stream has terms of its own', async () => {
    const recogniser = new FakeRecogniser(() => 'yes');
    const server = await speechServer({ loadRecogniser: recogniser.load });
    const storage = async (
      session: ClientSession,
      name: string,
      titles: readonly string[],
      field = 'title',
    ) =>
      session.createEmbeddedStringStorage({
        name,
        records: titles.map((title, i) => ({ id: `${i}`, text: 'bees', metadata: { [field]: title } })),
        fields: [{ name: field, type: 'string', optional: true }],
        embeddingModel: 'tiny',
      });
    const other = await server.session();
    await storage(other, 'docs', ['Secret']);
    const session = await server.session();
    const many = Array.from({ length: 100 }, (_, i) => `Ship ${i}`);
    await storage(session, 'docs', ['Vardo', '', 'Vardo', 'x'.repeat(81), 'Captain Ibsen']);
    await storage(session, 'ships', [...many.slice(0, 40), ...many], 'name');
    await storage(session, 'colours', ['red'], 'colour');
    const agentOf = (...storages: string[]) =>
      session.createAgent({
        graph: {
          nodes: storages.map((name, i) => ({
            id: `find${i}`,
            type: 'retrieve',
            params: { embeddedStringStorage: name },
          })),
        },
      });
    const termsOf = async (fields: Parameters<ClientSession['openSpeech']>[0]) => {
      const speech = await session.openSpeech(fields);
      const events = allEvents(speech);
      await speech.write(s16(spoken(1)));
      await speech.finish();
      await events;
      return recogniser.calls.at(-1)?.options.terms;
    };
    const agentId = (await agentOf('docs', 'colours')).id;
    expect(await termsOf({ agentId })).toEqual(['Vardo', 'Captain Ibsen']);
    expect(await termsOf({ agentId, terms: ['Kaelthas'] })).toEqual(['Kaelthas']);
    expect(await termsOf({ agentId, terms: [] })).toEqual([]);
    expect(await termsOf({})).toEqual([]);
    const both = (await agentOf('docs', 'ships')).id;
    expect(await termsOf({ agentId: both })).toEqual(['Vardo', 'Captain Ibsen', ...many.slice(0, 62)]);
  });

  it('interrupts a reply, which stays in the history as far as it was said', async () => {
    const { session, agent } = await talking(new FakeRecogniser(() => 'Tell me.'));
    const speech = await session.openSpeech({ agentId: agent.id });
    const heard: SpeechEvent[] = [];
    const talks = (async () => {
      for await (const event of speech) {
        heard.push(event);
        if (event.type === 'TurnText' && heard.filter(({ type }) => type === 'TurnStarted').length === 1) {
          // The user speaks while the agent replies.
          if (heard.filter(({ type }) => type === 'TurnText').length === 3)
            speech.write(s16(spoken(1))).catch(() => {});
        }
        if (event.type === 'TurnComplete' && event.status === 'cancelled') await speech.close();
      }
    })();
    await speech.write(s16(spoken(1)));
    await vi.waitFor(() => expect(heard.some(({ type }) => type === 'TurnComplete')).toBe(true));
    await agent.destroy().catch(() => {});
    await talks;
    const complete = heard.find((event) => event.type === 'TurnComplete');
    expect(complete).toMatchObject({ status: 'cancelled', text: expect.stringMatching(/^ w0 w1/) });
    const started = heard.findIndex((event) => event.type === 'SpeechStarted' && event.segment === 2);
    expect(started).toBeGreaterThan(0);
    expect(heard.indexOf(complete as SpeechEvent)).toBeGreaterThan(started);
  });

  it('remembers only what the user heard', async () => {
    const { session, agent } = await talking(new FakeRecogniser(() => 'Hello.'), ['one two three four']);
    const { turnId } = await agent.turn('hi');
    await session.replyHeard(turnId, 7);
    expect(await agent.export()).toMatchObject({
      turns: [{ text: 'hi', reply: 'one two', interrupted: true }],
    });
    await expect(session.replyHeard('s1.t99', 1)).rejects.toMatchObject({ code: 4008 });
  });

  it('joins what was said before the agent had replied', async () => {
    const recogniser = new FakeRecogniser();
    const { session, agent, model } = await talking(recogniser, ['ok']);
    neverReplies(model);
    const speech = await session.openSpeech({ agentId: agent.id });
    const events: SpeechEvent[] = [];
    const heard = (async () => {
      for await (const event of speech) events.push(event);
    })();
    await speech.write(s16(spoken(1)));
    (await recogniser.call(0)).say('What is the weather');
    await vi.waitFor(() => expect(texts(events)).toEqual(['What is the weather']));
    await speech.write(s16(spoken(1)));
    (await recogniser.call(1)).say('in Paris?');
    await vi.waitFor(() =>
      expect(texts(events)).toEqual(['What is the weather', 'What is the weather in Paris?']),
    );
    await speech.close();
    await agent.destroy();
    await heard;
  });

  it('joins what was said on another stream, which it has interrupted before the agent replied', async () => {
    const recogniser = new FakeRecogniser();
    const { session, agent, model } = await talking(recogniser, ['ok']);
    neverReplies(model);
    const streams = [0, 1].map(() => session.openSpeech({ agentId: agent.id }));
    const [one, other] = (await Promise.all(streams)) as [ClientSpeech, ClientSpeech];
    const events: SpeechEvent[] = [];
    const heard = [one, other].map(async (speech) => {
      for await (const event of speech) events.push(event);
    });
    await one.write(s16(spoken(1)));
    (await recogniser.call(0)).say('What is the weather?');
    await vi.waitFor(() => expect(texts(events)).toEqual(['What is the weather?']));
    await other.write(s16(spoken(1)));
    (await recogniser.call(1)).say('And the time?');
    await vi.waitFor(() => expect(texts(events).at(-1)).toBe('What is the weather? And the time?'));
    await Promise.all([one.close(), other.close()]);
    await agent.destroy();
    await Promise.all(heard);
  });

  it('waits for the end of a sentence, and no longer than it is told to', async () => {
    const said = ['Um, the', 'tall one.', 'Yes.', 'I want the'];
    let calls = 0;
    const { session, agent } = await talking(new FakeRecogniser(() => said[calls++]), ['ok']);
    const speech = await session.openSpeech({
      ...{ agentId: agent.id, endOfTurn: 'sentence', sentenceWaitMs: 30_000, bargeIn: false },
    });
    const events = allEvents(speech);
    for (let i = 0; i < 4; i++) await speech.write(s16(spoken(1)));
    await speech.finish();
    const heard = texts(await events);
    expect(heard.join(' ')).toBe('Um, the tall one. Yes. I want the');
    expect(heard[0]).toMatch(/^Um, the tall one\./);
    expect(heard.at(-1)).toMatch(/I want the$/);
  });

  it('is a turn when the user says so, with push to talk', async () => {
    let calls = 0;
    const { session, agent } = await talking(new FakeRecogniser(() => ['one', 'two', 'three'][calls++]), [
      'ok',
    ]);
    const speech = await session.openSpeech({ agentId: agent.id, turns: 'push_to_talk', bargeIn: false });
    const events = allEvents(speech);
    await speech.write(s16(spoken(1, 1)));
    await speech.endUtterance();
    await speech.write(s16(spoken(1)));
    await speech.finish();
    expect(texts(await events)).toEqual(['one two', 'three']);
  });
});
