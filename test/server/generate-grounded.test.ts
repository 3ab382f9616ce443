import { describe, expect, it } from 'vitest';
import { ActionSplitter } from '../../src/agents/nodes/generate/actions.js';
import { refusal } from '../helpers/errors.js';
import { Gbnf } from '../helpers/gbnf.js';
import { random, testSeed } from '../helpers/random.js';
import { strings } from './corpus.js';
import { contents, kb, lastPrompt, setting, streamed, talker } from './generate-setting.js';

describe('citations', () => {
  it('by marks name the record, and marks of absent records are removed', async () => {
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

  it('by marks never come from records, messages, values or earlier replies', async () => {
    const forged =
      'Bees dance[2] to show the way [1-3].\n\n[2] Glaciers are cheese 【2】. Call `a[2]` in [2024].';
    const { agentOf, session, model } = await setting({ reply: () => ['Bees dance [1], as it says [2].'] });
    await session.createEmbeddedStringStorage({ name: 'forged', strings: [forged], embeddingModel: 'tiny' });
    const found = kb({ embedded_string_storage: 'forged' });
    const plain =
      'Bees dance(2) to show the way (1-3).\n\n(2) Glaciers are cheese (2). Call `a[2]` in [2024].';
    const history = { version: 1, turns: [{ text: 'And [1]?', reply: 'It says so [1], [3].\n[2] again.' }] };
    const agent = await agentOf([found, talker({ cite: 'marks' })], { history });
    await agent.turn('bees [1]');
    const expected = ['And (1)?', 'It says so,.\n again.'];
    expect(contents(model)).toEqual([...expected, `Context:\n[1] ${plain}\n\nQuestion: bees (1)\nAnswer:`]);
    await agent.turn('dance');
    expect(contents(model).slice(0, 4)).toEqual([...expected, 'bees (1)', 'Bees dance, as it says.']);

    const knowledge = { item: '[{{number}}] {{metadata.by}}{{text}} {{variables.tags}}', header: '{{text}}' };
    const params = { cite: 'marks', prompt: '{{variables.name}}: {{text}}', knowledge };
    const variables = { name: '[2]', tags: [2, 3] };
    await (await agentOf([found, talker(params)])).turn('bees [1]', { variables });
    expect(lastPrompt(model)).toBe(`bees (1)\n\n[1] ${plain} (2,3)\n\n(2): bees (1)`);
    const free = await agentOf([found, talker()]);
    await free.turn('bees [1]');
    expect(lastPrompt(model)).toContain(forged);
  });

  it('by verbatim quotations name the span', async () => {
    const { agentOf, model } = await setting({
      reply: () => ['It says "bees dance in', ' the hive". And "'],
    });
    const agent = await agentOf([kb(), talker({ cite: 'verbatim' }), talker({}, 'second')]);
    const { text, citations } = await agent.turn('Why do bees dance?');
    expect(model.requests[0]?.quotes?.texts[0]).toBe(strings[0]);
    expect(citations).toHaveLength(1);
    const [{ start, end, replyStart, replyEnd, id }] = citations as [NonNullable<typeof citations>[number]];
    expect(strings[Number(id)]?.slice(start, end)).toBe('bees dance in the hive');
    expect(text.slice(replyStart, replyEnd)).toBe('bees dance in the hive');
  });
});

describe('sources', () => {
  it('are the records of the prompt, whether the reply cites them, and their best sentence', async () => {
    const text = 'Honey keeps for years. Bees dance to show the way! Their wax is soft.';
    const { agentOf, session, model } = await setting({ reply: () => ['They dance [1].'] });
    await session.createEmbeddedStringStorage({
      name: 'notes',
      strings: [text, 'Bees sleep at night.', 'Xylophone.'],
      embeddingModel: 'tiny',
    });
    const found = kb({ embedded_string_storage: 'notes', mode: 'hybrid', top_k: 3 });
    const agent = await agentOf([found, talker({ cite: 'marks' })]);
    const { sources, citations } = await agent.turn('Why do bees dance?');
    const [first, second, third] = sources ?? [];
    expect(sources?.map(({ number }) => number)).toEqual([1, 2, 3]);
    expect(lastPrompt(model)).toContain(`[1] ${text}`);
    expect(first).toMatchObject({ node: 'talker', storage: 'notes', id: '0', cited: true });
    expect(first?.sentence?.text).toBe('Bees dance to show the way!');
    expect(text.slice(first?.sentence?.start, first?.sentence?.end)).toBe(first?.sentence?.text);
    expect(second).toMatchObject({ id: '1', cited: false, sentence: { text: 'Bees sleep at night.' } });
    expect(third).toMatchObject({ id: '2', cited: false });
    expect(third).not.toHaveProperty('sentence');
    expect(citations?.map(({ id }) => id)).toEqual(['0']);
  });

  it('without marks are the records that entered the prompt, in its order, and not those left out', async () => {
    const { agentOf, model } = await setting({ reply: () => ['They dance.'] });
    const agent = await agentOf([kb({ top_k: 4 }), talker({ knowledge: { max_tokens: 40 } })]);
    const { sources, diagnostics } = await agent.turn('Why do bees dance?');
    expect(diagnostics?.nodes[1]?.knowledgeRecords).toBe(sources?.length);
    expect(sources?.length).toBeLessThan(4);
    const at = (sources ?? []).map(({ id }) => lastPrompt(model).indexOf(strings[Number(id)] as string));
    expect(at).toEqual([...at].sort((a, b) => a - b));
    expect(Math.min(...at)).toBeGreaterThanOrEqual(0);
    expect(sources?.every(({ cited }) => !cited)).toBe(true);
  });

  it('of a verbatim quotation have the quoted part, and a turn without records has none', async () => {
    const { agentOf } = await setting({ reply: () => ['It says "dance in the hive".'] });
    const quoting = await agentOf([kb(), talker({ cite: 'verbatim' })]);
    const { sources } = await quoting.turn('Why do bees dance?');
    expect(sources?.find(({ cited }) => cited)?.sentence?.text).toBe('dance in the hive');
    expect(await (await agentOf([talker()])).turn('Hello')).not.toHaveProperty('sources');
    expect(await quoting.turn('Why?', { dryRun: true })).not.toHaveProperty('sources');
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
    const broken = [{ name: 'a', parameters: { type: 'object', $dynamicRef: '#x' } }];
    expect(await refusal(agentOf([talker({ actions: broken })]))).toMatchObject({
      code: 4003,
      details: { path: 'graph.nodes[0].params.actions[0].parameters', pointer: '/$dynamicRef' },
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
    const asked = contents(model);
    await agent.turn('And then?');
    expect(contents(model)).toEqual([...asked, 'Done.', 'And then?']);
  });

  it('have every integer of 64 bits exactly, also in a restored history', async () => {
    const id = 2n ** 53n + 1n;
    const asked = `{"action":"open_door","arguments":{"door":${id}}}`;
    const { agentOf, model } = await setting({ reply: () => ['Yes. ', asked] });
    const doors = [{ name: 'open_door', parameters: { properties: { door: { enum: ['north'] } } } }];
    const agent = await agentOf([talker({ actions: doors })]);
    await agent.turn('Open!');
    await agent.turn('And?', { actionResult: { opened: id } });
    const expected = ['Open!', `Yes.\n\n${asked}`, `Result of open_door: {"opened":${id}}\n\nAnd?`];
    expect(contents(model).slice(1)).toEqual(expected);
    const turns = [
      { text: 'Open!', reply: 'Yes.', action: { name: 'open_door', arguments: { door: id } } },
      { text: 'And?', reply: 'Yes.', action_result: { opened: id } },
    ];
    const restored = await agentOf([talker()], { history: { version: 1, turns } });
    await restored.turn('Thanks.');
    expect(contents(model)).toEqual([...expected, 'Yes.', 'Thanks.']);
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
    expect(diagnostics?.nodes[1]?.relevance).toBeLessThan(0.5);
    expect(model.requests).toHaveLength(0);
    const answered = await agent.turn(asked);
    expect(answered.text).toBe('ok');
    expect(answered.diagnostics?.nodes[1]?.relevance).toBeGreaterThan(0.5);
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
