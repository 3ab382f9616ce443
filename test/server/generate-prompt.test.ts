import { describe, expect, it } from 'vitest';
import { refusal } from '../helpers/errors.js';
import type { FakeOptions } from '../helpers/fake-text-model.js';
import { strings } from './corpus.js';
import { contents, kb, lastPrompt, setting, talker } from './generate-setting.js';

/** The end of the default message behind records. */
const request = 'Answer with a sentence of the context:';

describe('the prompt of a generate node', () => {
  it('has context, question and a request by default, the best record next to them, without a system text', async () => {
    const { agentOf, model } = await setting();
    const agent = await agentOf([kb({ top_k: 2, mode: 'lexical' }), { id: 'talker', type: 'generate' }]);
    await agent.turn('Why do bees dance, and what do glaciers grind?');
    expect(model.prompts[0]?.map(({ role }) => role)).toEqual(['user']);
    expect(lastPrompt(model)).toBe(
      `Context:\n${strings[1]}\n\n${strings[0]}\n\nQuestion: Why do bees dance, and what do glaciers grind?\n${request}`,
    );
  });

  it('has the message alone without records, and in later turns the messages as they were', async () => {
    const { agentOf, model } = await setting({ reply: () => ['In the hive.'] });
    await (await agentOf([{ id: 'talker', type: 'generate' }])).turn('Why do bees dance?');
    expect(contents(model)).toEqual(['Why do bees dance?']);
    const agent = await agentOf([kb({ top_k: 1 }), talker({ system: 'Be brief.' })]);
    await agent.turn('Why do bees dance?');
    await agent.turn('bees dance');
    expect(contents(model)).toEqual([
      'Be brief.',
      'Why do bees dance?',
      'In the hive.',
      `Context:\n${strings[0]}\n\nQuestion: bees dance\n${request}`,
    ]);
  });

  it('has a system text of its own for citations', async () => {
    const { agentOf, model } = await setting();
    for (const [cite, word] of [
      ['marks', 'number'],
      ['verbatim', 'Quote'],
    ] as const) {
      await (await agentOf([kb(), { id: 'talker', type: 'generate', params: { cite } }])).turn('bees dance');
      expect(contents(model)[0]).toContain(word);
      expect(contents(model)).toHaveLength(2);
      expect(lastPrompt(model)).toMatch(/\nAnswer:$/);
    }
  });

  it('has the message as `prompt` renders it, also behind records', async () => {
    const { agentOf, model } = await setting();
    await (await agentOf([kb({ top_k: 1 }), talker({ prompt: '{{text}}' })])).turn('bees dance');
    expect(lastPrompt(model)).toBe(`Context:\n${strings[0]}\n\nbees dance`);
  });

  it('has the records in the system text with placement "system"', async () => {
    const { agentOf, model } = await setting();
    const knowledge = { placement: 'system', header: 'You know:', footer: 'No more.' };
    await (await agentOf([kb({ top_k: 1 }), talker({ system: 'Be brief.', knowledge })])).turn('bees dance');
    expect(contents(model)).toEqual([`Be brief.\n\nYou know:\n\n${strings[0]}\n\nNo more.`, 'bees dance']);
  });

  it('has the records where templates put them with placement "template"', async () => {
    const { agentOf, model } = await setting();
    const params = {
      system: 'For {{variables.name}}:{{#knowledge}} {{number}}={{id}}{{/knowledge}}',
      prompt: 'Q: {{text}}',
      knowledge: { placement: 'template', order: 'reversed' },
    };
    const agent = await agentOf([kb({ mode: 'lexical' }), talker(params)]);
    const variables = { name: 'Ann' };
    const { diagnostics } = await agent.turn('copper tin bees dance glaciers', { variables });
    expect(diagnostics?.nodes[1]?.knowledgeRecords).toBe(3);
    expect(contents(model)[0]).toMatch(/^For Ann: 1=\d+ 2=\d+ 3=\d+$/);
    expect(contents(model)[1]).toBe('Q: copper tin bees dance glaciers');
  });

  it('renders each record by a template with number, id, text, metadata and variables', async () => {
    const { agentOf, model } = await setting();
    const knowledge = {
      item: '({{number}}/{{id}}/{{variables.tag}}) {{text}}',
      header: 'H {{variables.tag}}',
    };
    const agent = await agentOf([kb({ top_k: 1 }), talker({ knowledge })]);
    await agent.turn('Why do bees dance?', { variables: { tag: 'x' } });
    expect(lastPrompt(model)).toBe(
      `H x\n\n(1/0/x) ${strings[0]}\n\nQuestion: Why do bees dance?\n${request}`,
    );
  });

  it('has the best record last with order "reversed", the default before the message', async () => {
    const { agentOf, model } = await setting();
    const agent = (order: string) =>
      agentOf([kb({ mode: 'lexical', top_k: 2 }), talker({ knowledge: { order, item: '<{{id}}>' } })]);
    const asked = 'bees dance hive flowers glaciers';
    await (await agent('rank')).turn(asked);
    await (await agent('reversed')).turn(asked);
    const ids = model.prompts.map((messages) => [...(messages[0]?.content ?? '').matchAll(/<(\d+)>/g)]);
    expect(ids[0]?.map(([, id]) => id)).toEqual(['0', '1']);
    expect(ids[1]?.map(([, id]) => id)).toEqual(['1', '0']);
    const byDefault = async (placement: string, more: object = {}) => {
      const knowledge = { item: '<{{number}}={{id}}>', placement };
      const nodes = [kb({ mode: 'lexical', top_k: 2 }), talker({ knowledge, system: 'Be brief.', ...more })];
      await (await agentOf(nodes)).turn(asked);
      return contents(model).join(' ').match(/<.*?>/g);
    };
    expect(await byDefault('before_user')).toEqual(['<1=1>', '<2=0>']);
    expect(await byDefault('system')).toEqual(['<1=0>', '<2=1>']);
    expect(await byDefault('before_user', { cite: 'marks' })).toEqual(['<1=0>', '<2=1>']);
  });

  it('leaves out the lowest-ranked records beyond max_tokens, and says so', async () => {
    const { agentOf, model } = await setting();
    const knowledge = { max_tokens: 16, item: '{{text}}' };
    const { diagnostics } = await (await agentOf([kb(), talker({ knowledge })])).turn('Why do bees dance?');
    expect(diagnostics?.nodes[1]).toMatchObject({ knowledgeRecords: 1, dropped: { knowledge: 2 } });
    expect(lastPrompt(model)).toContain(strings[0]);
    expect(lastPrompt(model)).not.toContain(strings[1]);
  });

  it('tells when the system text changed since the turn before', async () => {
    const { agentOf } = await setting();
    const agent = await agentOf([talker({ system: 'It is {{variables.time}}.' })]);
    const reports: unknown[] = [];
    for (const time of ['noon', 'noon', 'one'])
      reports.push((await agent.turn('x', { variables: { time } })).diagnostics?.nodes[0]?.volatilePrefix);
    expect(reports).toEqual([false, false, true]);
  });
});

describe('history', () => {
  const echo: FakeOptions = { reply: (_, messages) => [`re: ${messages.at(-1)?.content}`] };

  it('is in the prompts of later turns, oldest first', async () => {
    const { agentOf, model } = await setting(echo);
    const agent = await agentOf([talker()]);
    for (const text of ['one', 'two', 'three']) await agent.turn(text);
    expect(contents(model)).toEqual(['one', 're: one', 'two', 're: two', 'three']);
    expect(
      model.prompts
        .at(-1)
        ?.map(({ role }) => role)
        .join(),
    ).toBe('user,assistant,user,assistant,user');
  });

  it('has at most the turns that the node asks for', async () => {
    const { agentOf, model } = await setting(echo);
    const agent = await agentOf([talker({ history: { turns: 1 } })]);
    for (const text of ['one', 'two', 'three']) await agent.turn(text);
    expect(contents(model)).toEqual(['two', 're: two', 'three']);
    expect((await agent.export()).turns).toEqual([{ text: 'three', reply: 're: three' }]);
    const none = await agentOf([talker({ history: { turns: 0 } })]);
    await none.turn('one');
    await none.turn('two');
    expect(contents(model)).toEqual(['two']);
    expect((await none.export()).turns).toEqual([]);
  });

  it('is exported, and restored on another server', async () => {
    const first = await setting(echo);
    const agent = await first.agentOf([talker()]);
    for (const text of ['one', 'two']) await agent.turn(text);
    const history = await agent.export();
    expect(history).toEqual({
      version: 1,
      turns: [
        { text: 'one', reply: 're: one' },
        { text: 'two', reply: 're: two' },
      ],
    });
    const second = await setting(echo);
    const restored = await second.agentOf([talker()], { history: JSON.parse(JSON.stringify(history)) });
    await restored.turn('three');
    expect(contents(second.model)).toEqual(['one', 're: one', 'two', 're: two', 'three']);
    expect((await restored.export()).turns).toHaveLength(3);
  });

  it.each([
    [{ version: 2, turns: [] }, 'history.version'],
    [{ version: 1, turns: [{ text: 'a' }] }, 'history.turns[0].reply'],
    [{ version: 1, turns: [{ text: 'a', reply: 'b', more: 1 }] }, 'history.turns[0].more'],
    [{ version: 1 }, 'history.turns'],
  ])('%j is refused at %s', async (history, path) => {
    const { agentOf } = await setting();
    expect(await refusal(agentOf([talker()], { history }))).toMatchObject({ code: 1004, details: { path } });
  });

  it('counts against the memory of its client', async () => {
    const { agentOf } = await setting({}, { max_client_memory_mb: 16 });
    const turn = { text: 'a'.repeat(512 * 1024), reply: 'b' };
    const history = { version: 1, turns: [turn, turn] };
    let refusing: unknown;
    for (let agents = 0; agents < 16 && refusing === undefined; agents++)
      refusing = await agentOf([talker()], { history }).then(
        () => undefined,
        (error) => error,
      );
    expect(refusing).toMatchObject({
      code: 6001,
      message: expect.stringMatching(/^history: the agent was not created/),
    });
    await agentOf([talker()]);
  });

  it('forgets its oldest turns rather than exceed the memory of its client', async () => {
    const { agentOf } = await setting(
      { facts: { contextSize: 1_000_000 } },
      {
        max_client_memory_mb: 16,
        engines: { llm_engine: { inference: { default_n_ctx: 1_000_000 } } } as never,
      },
    );
    const agent = await agentOf([talker()]);
    let forgotten: number | undefined;
    for (let turn = 0; turn < 16; turn++) {
      const { diagnostics, status } = await agent.turn(`${turn} ${'a'.repeat(512 * 1024)}`);
      expect(status).toBe('completed');
      forgotten = diagnostics?.nodes[0]?.forgottenTurns;
    }
    const { turns } = await agent.export();
    expect(turns.length).toBeLessThan(16);
    expect(turns.at(-1)?.text.startsWith('15 ')).toBe(true);
    expect(forgotten).toBeGreaterThan(0);
  });

  it('has no failed turn, and nothing of a dry run', async () => {
    const { agentOf } = await setting({ fail: () => new Error('broken') });
    const agent = await agentOf([talker()]);
    expect((await agent.turn('one')).status).toBe('failed');
    expect((await agent.turn('two', { dryRun: true })).status).toBe('completed');
    expect((await agent.export()).turns).toEqual([]);
  });
});

it('prompts of many agents are counted and rendered by as many threads as searches may use', async () => {
  const { agentOf, model } = await setting({}, { thread_count: 2 });
  let running = 0;
  let most = 0;
  const counted = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    most = Math.max(most, ++running);
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
    running--;
    return await work();
  };
  const [count, render] = [model.countTokens.bind(model), model.render.bind(model)];
  model.countTokens = (text) => counted(() => count(text));
  model.render = (messages) => counted(() => render(messages));
  const agents = await Promise.all(Array.from({ length: 12 }, () => agentOf([talker()])));
  await Promise.all(agents.map((agent) => agent.turn('word '.repeat(500), { dryRun: true })));
  expect(most).toBeGreaterThan(1);
  expect(most).toBeLessThanOrEqual(3);
});
