/** Every pair of params of a generate node either works or is refused with the path of one of them. */
import { describe, expect, it } from 'vitest';
import { node } from '../../../src/agents/nodes/generate/node.js';
import { schema } from '../../../src/agents/nodes/generate/schema.js';
import { refused } from '../../helpers/errors.js';

const where = 'graph.nodes[0]';
const plan = (params: object) => node.plan('talker', params as Record<string, unknown>, where);

/** A value of each param, and further ones that behave differently. */
const settings: Record<string, Record<string, unknown>> = {
  model: { model: 'talker' },
  system: { system: 'You keep the lighthouse.' },
  prompt: { prompt: '{{text}}' },
  'placement system': { knowledge: { placement: 'system' } },
  'placement template': {
    knowledge: { placement: 'template' },
    prompt: '{{#knowledge}}{{text}}{{/knowledge}} {{text}}',
  },
  item: { knowledge: { item: '<{{text}}>' } },
  header: { knowledge: { header: 'Facts:' } },
  footer: { knowledge: { footer: 'That is all.' } },
  'knowledge.max_tokens': { knowledge: { max_tokens: 50 } },
  order: { knowledge: { order: 'rank' } },
  history: { history: { turns: 3 } },
  max_tokens: { max_tokens: 20 },
  context_size: { context_size: 200 },
  temperature: { temperature: 0.5 },
  greedy: { temperature: 0 },
  top_k: { top_k: 5 },
  top_p: { top_p: 0.5 },
  min_p: { min_p: 0.1 },
  repeat_penalty: { repeat_penalty: 1.1 },
  frequency_penalty: { frequency_penalty: 0.5 },
  presence_penalty: { presence_penalty: 0.5 },
  seed: { seed: 1 },
  stop: { stop: ['\n\n'] },
  drafts: { drafts: false },
  logprobs: { logprobs: 2 },
  json_schema: { json_schema: { type: 'object' } },
  grammar: { grammar: 'root ::= "a"' },
  thinking: { thinking: { budget: 10 } },
  background: { class: 'background' },
  buffered: { class: 'interactive_buffered' },
  'stream true': { stream: true },
  'stream false': { stream: false },
  marks: { cite: 'marks' },
  verbatim: { cite: 'verbatim' },
  actions: { actions: [{ name: 'open' }] },
  memory: { memory: 'keep' },
  refuse: { on_no_knowledge: 'refuse' },
  'a fallback': { on_no_knowledge: 'fallback', fallback: 'I do not know.' },
  deadline_ms: { deadline_ms: 1000 },
};

/** Params without effect unless one of the others is there. */
const needing: Record<string, { params: Record<string, unknown>; one: string[]; path: string }> = {
  penalty_last_n: {
    params: { penalty_last_n: 32 },
    one: ['repeat_penalty', 'frequency_penalty', 'presence_penalty'],
    path: 'penalty_last_n',
  },
  min_relevance: { params: { min_relevance: 0.4 }, one: ['refuse', 'a fallback'], path: 'min_relevance' },
};

/** Pairs that contradict each other, and the path that is named. */
const contradictory: [string, string, path: string][] = [
  ['json_schema', 'grammar', 'grammar'],
  ['json_schema', 'actions', 'actions'],
  ['grammar', 'actions', 'actions'],
  ['json_schema', 'marks', 'cite'],
  ['json_schema', 'verbatim', 'cite'],
  ['grammar', 'marks', 'cite'],
  ['grammar', 'verbatim', 'cite'],
  ['verbatim', 'actions', 'cite'],
  ['stop', 'json_schema', 'stop'],
  ['stop', 'grammar', 'stop'],
  ['stop', 'actions', 'stop'],
  ['json_schema', 'memory', 'memory'],
  ['grammar', 'memory', 'memory'],
  ['verbatim', 'memory', 'cite'],
  ['stop', 'memory', 'stop'],
  ['placement template', 'item', 'knowledge.item'],
  ['placement template', 'header', 'knowledge.header'],
  ['placement template', 'footer', 'knowledge.footer'],
  ['placement template', 'marks', 'prompt'],
  ['item', 'marks', 'knowledge.item'],
  ['background', 'stream true', 'stream'],
  ['json_schema', 'a fallback', 'fallback'],
];

/** Both settings; undefined if they give different values to the same param. */
function both(a: Record<string, unknown>, b: Record<string, unknown>): Record<string, unknown> | undefined {
  const merged: Record<string, unknown> = { ...a };
  for (const [name, value] of Object.entries(b)) {
    const own = merged[name];
    if (own === undefined) merged[name] = value;
    else if (name !== 'knowledge') return undefined;
    else {
      const inner = both(own as Record<string, unknown>, value as Record<string, unknown>);
      if (inner === undefined) return undefined;
      merged[name] = inner;
    }
  }
  return merged;
}

describe('the params of a generate node, two by two', () => {
  it('are all in the table', () => {
    const named = [...Object.values(settings), ...Object.values(needing).map(({ params }) => params)];
    expect(new Set(named.flatMap((params) => Object.keys(params)))).toEqual(
      new Set(Object.keys(schema.params.shape)),
    );
  });

  it.each(Object.keys(settings))('%s goes with every other, or the other is refused with a path', (first) => {
    const names = Object.keys(settings);
    for (const second of names.slice(names.indexOf(first) + 1)) {
      const params = both(settings[first] as object as never, settings[second] as object as never);
      if (params === undefined) continue;
      const pair = `${first} and ${second}`;
      const refusal = contradictory.find(([a, b]) => [a, b].sort().join() === [first, second].sort().join());
      if (refusal === undefined) expect(plan(params), pair).toMatchObject({ id: 'talker' });
      else
        expect(
          refused(() => plan(params)),
          pair,
        ).toMatchObject({
          code: 4003,
          details: { path: `${where}.params.${refusal[2]}` },
        });
    }
  });

  it.each(Object.entries(needing))('%s is refused unless it has an effect', (_, { params, one, path }) => {
    const error = { code: 4003, details: { path: `${where}.params.${path}` } };
    expect(refused(() => plan(params))).toMatchObject(error);
    for (const [name, other] of Object.entries(settings)) {
      const together = both(other, params) as Record<string, unknown>;
      if (one.includes(name)) expect(plan(together), name).toMatchObject({ id: 'talker' });
      else
        expect(
          refused(() => plan(together)),
          name,
        ).toMatchObject(error);
    }
  });

  it.each([
    [{ cite: 'verbatim', stop: ['x', '"'] }, 'stop[1]'],
    [{ cite: 'verbatim', stop: ['«'] }, 'stop[0]'],
    [{ cite: 'marks', stop: ['['] }, 'stop[0]'],
    [{ cite: 'marks', knowledge: { item: '{{rank}} {{text}}' } }, 'knowledge.item'],
    [
      { cite: 'marks', system: '{{#knowledge}}{{text}}{{/knowledge}}', knowledge: { placement: 'template' } },
      'system',
    ],
  ])('%j at %s: no citation could come', (params, path) => {
    expect(refused(() => plan(params))).toMatchObject({
      code: 4003,
      details: { path: `${where}.params.${path}` },
    });
  });

  it.each([
    [{ cite: 'marks', knowledge: { item: '({{ number }}) {{text}}' } }],
    [
      {
        cite: 'marks',
        system: '{{#knowledge}}[{{number}}] {{text}}{{/knowledge}}',
        knowledge: { placement: 'template' },
      },
    ],
    [{ cite: 'marks', stop: ['[END]'] }],
    [{ json_schema: {}, on_no_knowledge: 'fallback', fallback: '{"known": false}' }],
  ])('%j is fine', (params) => {
    expect(plan(params)).toMatchObject({ id: 'talker' });
  });
});
