import { describe, expect, it } from 'vitest';
import { ActionSplitter } from '../../src/agents/nodes/generate/actions.js';
import type { ClientAgent, Graph, ServerFrames } from '../../src/client/index.js';
import type { ServerConfig } from '../../src/config/schema.js';
import { refusal } from '../helpers/errors.js';
import { type FakeOptions, FakeTextModel } from '../helpers/fake-text-model.js';
import { Gbnf } from '../helpers/gbnf.js';
import { random, testSeed } from '../helpers/random.js';
import { strings } from './corpus.js';
import { retrieveGraph, TestServer } from './test-server.js';

const kb = (params: object = {}) =>
  retrieveGraph({ mode: 'hybrid', top_k: 3, ...params }).nodes[0] as Graph['nodes'][number];
const talker = (params: object = {}, id = 'talker'): Graph['nodes'][number] => ({
  id,
  type: 'generate',
  params: { system: '', temperature: 0, ...params },
});

interface Setting {
  model: FakeTextModel;
  agentOf(nodes: Graph['nodes'], more?: object): Promise<ClientAgent>;
}

/** A server with a fake model, and the storage "docs". */
async function setting(options: FakeOptions = {}, config: Partial<ServerConfig> = {}): Promise<Setting> {
  const model = new FakeTextModel(options);
  const server = await TestServer.start({ config, loadLanguageModel: async () => model });
  const session = await server.session();
  await session.createEmbeddedStringStorage({ name: 'docs', strings, embeddingModel: 'tiny' });
  const agentOf = (nodes: Graph['nodes'], more: object = {}) =>
    session.createAgent({ graph: { nodes }, enableDiagnostics: true, ...more });
  return { model, agentOf };
}

/** The frames of a turn: the pieces of text, and its end. */
async function streamed(agent: ClientAgent, text: string) {
  const pieces: ServerFrames['TurnText'][] = [];
  let complete: ServerFrames['TurnComplete'] | undefined;
  for await (const event of agent.stream(text)) {
    if (event.type === 'TurnText') pieces.push(event);
    if (event.type === 'TurnComplete') complete = event;
  }
  if (complete === undefined) throw new Error('the turn did not end');
  return { pieces, complete };
}

const contents = ({ prompts }: FakeTextModel) => prompts.at(-1)?.map(({ content }) => content) ?? [];
const lastPrompt = (model: FakeTextModel) => contents(model).at(-1) ?? '';

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
    const { maxTokens, thinking } = model.requests[0] ?? {};
    expect(thinking).toEqual({ budget: 20 });
    expect(maxTokens).toBeGreaterThanOrEqual(50);
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

  it('starts its reply on a new line after that of another node', async () => {
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

describe('the prompt of a generate node', () => {
  it('has the records before the message by default', async () => {
    const { agentOf, model } = await setting();
    await (await agentOf([kb({ top_k: 2 }), talker({ system: 'Be brief.' })])).turn('Why do bees dance?');
    expect(model.prompts[0]?.map(({ role }) => role)).toEqual(['system', 'user']);
    expect(contents(model)[0]).toBe('Be brief.');
    const prompt = lastPrompt(model);
    expect(prompt).toContain(strings[0]);
    expect(prompt.endsWith('Why do bees dance?')).toBe(true);
    expect(prompt.indexOf(strings[0] as string)).toBeLessThan(prompt.indexOf('Why do bees'));
  });

  it('has a system text of its own only with records', async () => {
    const { agentOf, model } = await setting();
    const plain = { id: 'talker', type: 'generate' };
    await (await agentOf([plain])).turn('Why do bees dance?');
    expect(contents(model)).toEqual(['Why do bees dance?']);
    await (await agentOf([kb(), plain])).turn('Why do bees dance?');
    expect(model.prompts.at(-1)?.[0]?.role).toBe('system');
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
    expect(lastPrompt(model)).toBe(`H x\n\n(1/0/x) ${strings[0]}\n\nWhy do bees dance?`);
  });

  it('has the best record last with order "reversed"', async () => {
    const { agentOf, model } = await setting();
    const agent = (order: string) =>
      agentOf([kb({ mode: 'lexical', top_k: 2 }), talker({ knowledge: { order, item: '<{{id}}>' } })]);
    const asked = 'bees dance hive flowers glaciers';
    await (await agent('rank')).turn(asked);
    await (await agent('reversed')).turn(asked);
    const ids = model.prompts.map((messages) => [...(messages[0]?.content ?? '').matchAll(/<(\d+)>/g)]);
    expect(ids[0]?.map(([, id]) => id)).toEqual(['0', '1']);
    expect(ids[1]?.map(([, id]) => id)).toEqual(['1', '0']);
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
      message: expect.stringMatching(/^history: the agent is not made/),
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

describe('citations', () => {
  it('by marks name the record, and those of absent records are removed', async () => {
    const { agentOf, model } = await setting({
      reply: () => ['Bees dance', ' [', '1', ']', '. So', ' [8]', '.'],
    });
    const agent = await agentOf([kb(), talker({ cite: 'marks' })]);
    const { pieces, complete } = await streamed(agent, 'Why do bees dance?');
    expect(lastPrompt(model)).toContain(`[1] ${strings[0]}`);
    expect(complete.text).toBe('Bees dance [1]. So.');
    expect(pieces.map(({ text }) => text).join('')).toBe(complete.text);
    expect(complete.citations).toHaveLength(1);
    const [citation] = complete.citations ?? [];
    expect(citation).toMatchObject({ kind: 'mark', node: 'talker', storage: 'docs', id: '0', start: 0 });
    expect(complete.text.slice(citation?.replyStart, citation?.replyEnd)).toBe('[1]');
    expect(complete.diagnostics?.nodes[1]?.removedMarks).toBe(1);
  });

  it('by verbatim quotations name the span', async () => {
    const { agentOf, model } = await setting({
      reply: () => ['It says "bees dance in', ' the hive". And "'],
    });
    const agent = await agentOf([kb(), talker({ cite: 'verbatim' }), talker({}, 'second')]);
    const { text, citations } = await agent.turn('Why do bees dance?');
    expect(model.requests[0]?.quotes).toMatchObject({ open: '"', close: '"' });
    expect(model.requests[0]?.quotes?.texts[0]).toBe(strings[0]);
    expect(citations).toHaveLength(1);
    const [{ start, end, replyStart, replyEnd, id }] = citations as [NonNullable<typeof citations>[number]];
    expect(strings[Number(id)]?.slice(start, end)).toBe('bees dance in the hive');
    expect(text.slice(replyStart, replyEnd)).toBe('bees dance in the hive');
  });
});

describe('actions', () => {
  const actions = [
    { name: 'open_door', description: 'Opens a door.', parameters: { type: 'object' } },
    { name: 'wave' },
  ];
  const call = { action: 'open_door', arguments: { door: 'north' } };

  it('are constrained by a grammar: text, an action with arguments that its schema allows, or both', async () => {
    const { agentOf, model } = await setting();
    const door = { type: 'object', properties: { door: { enum: ['north', 'south'] } }, required: ['door'] };
    const named = [{ name: 'open_door', parameters: door }, { name: 'wave' }];
    await (await agentOf([talker({ actions: named })])).turn('x');
    const grammar = new Gbnf(model.requests[0]?.grammar ?? '');
    for (const reply of [
      '',
      'Only text, [with] "quotes".\nAnd lines.',
      '{"action":"wave","arguments":{}}',
      'Gladly.\n{"action": "open_door", "arguments": {"door": "north"}}',
      JSON.stringify(call),
    ])
      expect(grammar.accepts(reply), reply).toBe(true);
    for (const reply of [
      '{"action":"close_door","arguments":{}}',
      '{"action":"open_door","arguments":{"door":"east"}}',
      '{"action":"open_door"}',
      '{"action":"wave","arguments":{}} and more',
      'An open { brace',
    ])
      expect(grammar.accepts(reply), reply).toBe(false);
    const next = random(testSeed);
    for (let round = 0; round < 50; round++) {
      const splitter = new ActionSplitter();
      const text = splitter.push(grammar.sample(next));
      const action = splitter.finish();
      expect(text).not.toContain('{');
      if (action !== undefined) expect(['open_door', 'wave']).toContain(action.name);
    }
    const broken = [{ name: 'a', parameters: { type: 'object', minProperties: 1 } }];
    expect(await refusal(agentOf([talker({ actions: broken })]))).toMatchObject({
      code: 4003,
      details: { path: 'graph.nodes[0].params.actions[0].parameters', pointer: '/minProperties' },
    });
  });

  it('are asked for in TurnComplete, apart from the text, and reported on in the next turn', async () => {
    let replies = 0;
    const { agentOf, model } = await setting({
      reply: () => (replies++ === 0 ? ['I open it.', ' ', JSON.stringify(call)] : ['Done.']),
    });
    const agent = await agentOf([talker({ actions })]);
    const { pieces, complete } = await streamed(agent, 'Open the door!');
    expect(pieces.map(({ text }) => text).join('')).toBe('I open it.');
    expect(complete).toMatchObject({
      text: 'I open it.',
      action: { node: 'talker', name: 'open_door', arguments: { door: 'north' } },
    });
    expect(contents(model)[0]).toContain('open_door: Opens a door.');
    const history = await agent.export();
    expect(history.turns[0]?.action).toEqual({ name: 'open_door', arguments: { door: 'north' } });

    const next = await agent.turn('What happened?', { actionResult: { opened: true } });
    expect(next.text).toBe('Done.');
    expect(next.action).toBeUndefined();
    expect(contents(model).slice(1)).toEqual([
      'Open the door!',
      `I open it.\n\n${JSON.stringify(call)}`,
      'Result of open_door: {"opened":true}\n\nWhat happened?',
    ]);
    expect(await agent.turn('Again', { actionResult: 1 })).toMatchObject({
      status: 'failed',
      error: { code: 1004, details: { path: 'action_result' } },
    });
  });
});

describe('without relevant knowledge', () => {
  const asked = 'bees dance in the hive';
  const unknown = 'Quarterly taxation of submarines';

  it('a fallback is the reply, and nothing is generated', async () => {
    const { agentOf, model } = await setting();
    const params = { on_no_knowledge: 'fallback', fallback: 'I do not know.' };
    const agent = await agentOf([kb(), talker(params)]);
    const { text, finish, diagnostics } = await agent.turn(unknown);
    expect(text).toBe('I do not know.');
    expect(finish).toBeUndefined();
    expect(diagnostics?.nodes[1]?.relevance).toBeLessThan(0.4);
    expect(model.requests).toHaveLength(0);
    const answered = await agent.turn(asked);
    expect(answered.text).toBe('ok');
    expect(answered.diagnostics?.nodes[1]?.relevance).toBeGreaterThan(0.4);
  });

  it('the turn is refused, or answered all the same', async () => {
    const { agentOf } = await setting();
    const refusing = await agentOf([kb(), talker({ on_no_knowledge: 'refuse' })]);
    expect(await refusing.turn(unknown)).toMatchObject({ status: 'failed', error: { code: 4015 } });
    expect((await refusing.turn(asked)).status).toBe('completed');
    const strict = await agentOf([kb(), talker({ on_no_knowledge: 'refuse', min_relevance: 1 })]);
    expect((await strict.turn('Why do bees dance, and how is bronze made?')).error?.code).toBe(4015);
    expect((await (await agentOf([kb(), talker()])).turn(unknown)).text).toBe('ok');
  });
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
    expect(tokens).toMatchObject({ system: 3, history: 5, prompt: 3, reserved: 100, context: 1000 });
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
