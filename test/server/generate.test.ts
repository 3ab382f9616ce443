import { describe, expect, it } from 'vitest';
import type { ServerConfig } from '../../src/config/schema.js';
import { Gbnf } from '../helpers/gbnf.js';
import { contents, kb, setting, streamed, talker } from './generate-setting.js';

describe('a generate node', () => {
  it('streams pieces that add up to the reply, with node, kind, finish and usage', async () => {
    const { agentOf } = await setting({ reply: () => ['Bees ', 'dance', '.'] });
    const { pieces, complete } = await streamed(await agentOf([talker()]), 'What do bees do?');
    expect(pieces.map(({ text, node, kind }) => [text, node, kind])).toEqual([
      ['Bees ', 'talker', 'reply'],
      ['dance', 'talker', 'reply'],
      ['.', 'talker', 'reply'],
    ]);
    expect(complete).toMatchObject({
      status: 'completed',
      text: 'Bees dance.',
      finish: 'stop',
      usage: { prompt: 7, cached: 1, completion: 3 },
    });
    expect(complete.diagnostics?.nodes[0]).toMatchObject({
      finish: 'stop',
      promptTokens: 7,
      completionTokens: 3,
      historyTurns: 0,
      knowledgeRecords: 0,
      dropped: { historyTurns: 0, knowledge: 0 },
    });
  });

  it('sends thinking apart from the reply', async () => {
    const { agentOf, model } = await setting({
      facts: { thinking: true },
      reply: () => [{ kind: 'thinking', text: 'Hm. ' }, { kind: 'thinking', text: 'Bees!' }, 'They dance.'],
    });
    const agent = await agentOf([talker({ thinking: { budget: 20 }, max_tokens: 30 })]);
    const { pieces, complete } = await streamed(agent, 'x');
    expect(pieces.map(({ kind, text }) => `${kind}: ${text}`)).toEqual([
      'thinking: Hm. ',
      'thinking: Bees!',
      'reply: They dance.',
    ]);
    expect(complete.text).toBe('They dance.');
    expect((await agent.turn('y')).text).toBe('They dance.');
    expect(contents(model)).toEqual(['x', 'They dance.', 'y']);
    // The reply keeps its tokens whatever thinking takes.
    const { maxTokens, maxReplyTokens, thinking } = model.requests[0] ?? {};
    expect(thinking).toEqual({ budget: 20 });
    expect(maxTokens).toBeGreaterThanOrEqual(50);
    // And no more than its own.
    expect(maxReplyTokens).toBe(30);
  });

  it.each([
    [{ class: 'interactive_visible' }, ['One. ', 'Two', '. Three.']],
    [{ class: 'interactive_buffered' }, ['One. ', 'Two. ', 'Three.']],
    [{ class: 'background' }, ['One. Two. Three.']],
    [{ class: 'interactive_visible', stream: false }, ['One. Two. Three.']],
    [{ class: 'interactive_buffered', stream: true }, ['One. ', 'Two. ', 'Three.']],
  ])('with %j sends %j', async (params, expected) => {
    const { agentOf, model } = await setting({ reply: () => ['One. ', 'Two', '. Three.'] });
    const { pieces, complete } = await streamed(await agentOf([talker(params)]), 'x');
    expect(pieces.map(({ text }) => text)).toEqual(expected);
    expect(complete.text).toBe('One. Two. Three.');
    expect(model.requests[0]?.class).toBe(params.class);
  });

  it("starts its reply on a new line after another node's", async () => {
    const { agentOf } = await setting({ reply: () => ['a', 'b'] });
    const { pieces, complete } = await streamed(await agentOf([talker({}, 'one'), talker({}, 'two')]), 'x');
    expect(pieces.map(({ node, text }) => [node, text])).toEqual([
      ['one', 'a'],
      ['one', 'b'],
      ['two', '\na'],
      ['two', 'b'],
    ]);
    expect(complete.text).toBe('ab\nab');
    expect(complete.usage?.completion).toBe(4);
  });

  it('passes its params to the engine', async () => {
    const { agentOf, model } = await setting();
    const params = {
      max_tokens: 50,
      temperature: 0.5,
      top_k: 7,
      top_p: 0.8,
      min_p: 0.1,
      repeat_penalty: 1.1,
      frequency_penalty: 0.2,
      presence_penalty: 0.3,
      penalty_last_n: 99,
      seed: 42,
      stop: ['\nUser:'],
      deadline_ms: 60_000,
    };
    await (await agentOf([talker(params)])).turn('x');
    expect(model.requests[0]).toMatchObject({
      maxTokens: 50,
      seed: 42,
      stop: ['\nUser:'],
      sampling: {
        temperature: 0.5,
        topK: 7,
        topP: 0.8,
        minP: 0.1,
        repeatPenalty: 1.1,
        frequencyPenalty: 0.2,
        presencePenalty: 0.3,
        penaltyLastN: 99,
      },
    });
    expect(model.requests[0]?.deadlineMs).toBeGreaterThan(50_000);
    expect(model.requests[0]?.deadlineMs).toBeLessThanOrEqual(60_000);
    await (await agentOf([talker({ json_schema: { type: 'boolean' } })])).turn('x');
    expect(model.requests[1]?.maxTokens).toBe(250);
    const boolean = new Gbnf(model.requests[1]?.grammar ?? '');
    expect(['true', 'false', '1'].map((text) => boolean.accepts(text))).toEqual([true, true, false]);
    await (await agentOf([talker({ grammar: 'root ::= "a"', context_size: 100 })])).turn('x');
    expect(model.requests[2]).toMatchObject({ grammar: 'root ::= "a"', maxTokens: 25 });
  });

  it('says when its reply was cut', async () => {
    for (const finish of ['length', 'context', 'deadline', 'stop_string'] as const) {
      const { agentOf } = await setting({ finish });
      expect(await (await agentOf([talker()])).turn('x')).toMatchObject({ status: 'completed', finish });
    }
  });

  it('is cancelled in the middle, with the reply so far', async () => {
    let cancel = () => {};
    const { agentOf, model } = await setting({
      reply: () => ['One ', 'two ', 'three'],
      pause: async (index) => {
        if (index !== 2) return;
        cancel();
        // The third piece waits until the cancel has arrived.
        await new Promise<void>((resolve) => {
          arrived = resolve;
        });
      },
    });
    let arrived = () => {};
    const agent = await agentOf([talker()]);
    const leaving = new AbortController();
    cancel = () => {
      leaving.abort(new Error('enough'));
      // The agent's next turn begins when the first has ended.
      setImmediate(() => arrived());
    };
    await expect(agent.turn('count', { signal: leaving.signal })).rejects.toThrow('enough');
    await agent.turn('and then?');
    expect(model.prompts).toHaveLength(2);
  });
});

it('an export behind a cancel has the reply of the cancelled turn', async () => {
  const { agentOf } = await setting({
    reply: () => ['One ', 'two'],
    pause: async (index, signal) => {
      if (index === 0) return;
      await new Promise<void>((resolve) =>
        signal?.addEventListener('abort', () => setImmediate(() => setImmediate(resolve)), { once: true }),
      );
    },
  });
  const agent = await agentOf([talker()]);
  for await (const event of agent.stream('count')) if (event.type === 'TurnText') break;
  expect((await agent.export()).turns).toEqual([{ text: 'count', reply: 'One ', interrupted: true }]);
});

describe('a dry run', () => {
  it('counts the parts of the prompt, and generates nothing', async () => {
    const { agentOf, model } = await setting({}, { include_interaction_in_diagnostics: true });
    const agent = await agentOf([kb({ top_k: 2 }), talker({ system: 'Be very brief.', max_tokens: 100 })]);
    await agent.turn('Why do bees dance?');
    const { dryRun, text, finish } = await agent.turn('And why again?', { dryRun: true });
    expect([text, finish, model.requests.length]).toEqual(['', undefined, 1]);
    const [{ tokens, dropped, messages, node }] = dryRun as [NonNullable<typeof dryRun>[number]];
    expect(node).toBe('talker');
    expect(tokens).toMatchObject({ system: 3, history: 5, prompt: 12, reserved: 100, context: 1000 });
    expect(tokens.knowledge).toBeGreaterThan(10);
    const { system, history, knowledge, prompt, template, total } = tokens;
    expect(system + history + knowledge + prompt + template).toBe(total);
    expect(dropped).toEqual({ historyTurns: 0, knowledge: 0 });
    expect(messages?.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user']);
  });

  it('shows messages only when client and operator want user content in diagnostics', async () => {
    const shown = async (config: Partial<ServerConfig>, enableDiagnostics: boolean) => {
      const { agentOf } = await setting({}, config);
      const { dryRun } = await (await agentOf([talker()], { enableDiagnostics })).turn('x', { dryRun: true });
      expect(dryRun?.[0]?.tokens.total).toBe(4);
      return dryRun?.[0]?.messages !== undefined;
    };
    expect(await shown({ include_interaction_in_diagnostics: true }, true)).toBe(true);
    expect(await shown({ include_interaction_in_diagnostics: true }, false)).toBe(false);
    expect(await shown({}, true)).toBe(false);
  });

  it('tells what would be left out, and refuses what a turn would', async () => {
    const { agentOf } = await setting();
    const agent = await agentOf([kb({ top_k: 3 }), talker({ context_size: 80, max_tokens: 50 })]);
    const { dryRun } = await agent.turn('Why do bees dance?', { dryRun: true });
    expect(dryRun?.[0]?.dropped.knowledge).toBe(2);
    expect((await agent.turn('a '.repeat(50), { dryRun: true })).error?.code).toBe(4016);
  });
});

describe('engine diagnostics of a generate node', () => {
  it('have numbers that add up to the turn, and no text', async () => {
    const { agentOf } = await setting(
      { reply: () => ['Secretive', ' words'] },
      { include_engine_diagnostics: true },
    );
    const agent = await agentOf([kb(), talker({ seed: 9 })]);
    const { debugInfo, diagnostics } = await agent.turn('Why do bees dance?');
    const engine = debugInfo?.nodes[1]?.diagnostics.engine;
    if (engine?.kind !== 'generation') throw new Error('no generation');
    expect(engine).toMatchObject({
      model: 'talker',
      device: 'fake device',
      runtime: 'llama.cpp',
      class: 'interactive_visible',
      reusedTokens: 1,
      decodeTokens: 2,
      dropped: { historyTurns: 0, knowledge: 0 },
      finish: 'stop',
      seed: 9,
    });
    expect(JSON.stringify(debugInfo)).not.toMatch(/bee|danc|secretive|words/i);
    const { prepareMs, queueMs, prefillMs, decodeMs, otherMs } = engine;
    const [search, generation] = diagnostics?.nodes ?? [];
    const parts = prepareMs + queueMs + prefillMs + decodeMs + otherMs;
    expect(parts).toBeCloseTo(generation?.durationMs ?? 0, 1);
    const retrieval = debugInfo?.nodes[0]?.diagnostics.engine;
    if (retrieval?.kind !== 'retrieval') throw new Error('no retrieval');
    expect(retrieval.embedMs + retrieval.searchMs + retrieval.otherMs).toBeCloseTo(
      search?.durationMs ?? 0,
      1,
    );
    const nodes = (search?.durationMs ?? 0) + (generation?.durationMs ?? 0);
    expect(nodes + (diagnostics?.betweenMs ?? 0)).toBeCloseTo(diagnostics?.durationMs ?? 0, 1);
  });
});
