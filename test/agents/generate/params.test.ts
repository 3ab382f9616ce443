import { describe, expect, it } from 'vitest';
import { replyGrammar } from '../../../src/agents/nodes/generate/constraints.js';
import { node } from '../../../src/agents/nodes/generate/node.js';
import { type GenerateParams, schema } from '../../../src/agents/nodes/generate/schema.js';
import { planTokens } from '../../../src/agents/nodes/generate/settings.js';
import { refused } from '../../helpers/errors.js';
import { FakeTextModel } from '../../helpers/fake-text-model.js';

const where = 'graph.nodes[2]';
const plan = (params: Record<string, unknown>) => node.plan('talker', params, where);
const action = { name: 'open', parameters: {} };

describe('params of a generate node are refused with their path', () => {
  const invalid: [params: Record<string, unknown>, path: string, code?: number][] = [
    [{ modle: 'x' }, 'modle', 4002],
    [{ knowledge: { place: 'system' } }, 'knowledge.place', 4002],
    [{ knowledge: { placement: 'behind' } }, 'knowledge.placement'],
    [{ knowledge: { max_tokens: 0 } }, 'knowledge.max_tokens'],
    [{ history: { turns: -1 } }, 'history.turns'],
    [{ history: 3 }, 'history'],
    [{ max_tokens: 0 }, 'max_tokens'],
    [{ max_tokens: 1.5 }, 'max_tokens'],
    [{ temperature: -1 }, 'temperature'],
    [{ top_p: 0 }, 'top_p'],
    [{ seed: -1 }, 'seed'],
    [{ stop: [] }, 'stop'],
    [{ stop: [''] }, 'stop[0]'],
    [{ stop: ['a', 'é'.repeat(1000)] }, 'stop[1]'],
    [{ stop: ['\ud83d'] }, 'stop[0]'],
    [{ json_schema: 'object' }, 'json_schema'],
    [{ thinking: 'maybe' }, 'thinking'],
    [{ thinking: { budget: 0 } }, 'thinking.budget'],
    [{ class: 'fast' }, 'class'],
    [{ cite: true }, 'cite'],
    [{ actions: [{ name: 'a b' }] }, 'actions[0].name'],
    [{ actions: [{ name: 'a', args: {} }] }, 'actions[0].args', 4002],
    [{ on_no_knowledge: 'lie' }, 'on_no_knowledge'],
    [{ system: '{{#open}}' }, 'system'],
    [{ prompt: '{{' }, 'prompt'],
    [{ knowledge: { item: '{{/a}}' } }, 'knowledge.item'],
    [{ json_schema: { enum: Array.from({ length: 5000 }, (_, n) => n) } }, 'json_schema'],
    [{ json_schema: { const: 'x'.repeat(300_000) } }, 'json_schema'],
    [
      { actions: [{ name: 'a', parameters: { enum: Array.from({ length: 5000 }, (_, n) => n) } }] },
      'actions',
    ],
  ];
  it.each(invalid)('%j at %s', (params, path, code = 4003) => {
    const error = refused(() => plan(params));
    expect(error).toMatchObject({ code, details: { path: `${where}.params.${path}` } });
  });

  it.each([
    { type: 'string', pattern: '^[\ud83d]$' },
    { type: 'array', uniqueItems: true },
    { type: 'integer', multipleOf: 9973 },
  ])('the JSON Schema %j when the agent opens', async (json_schema) => {
    const written = replyGrammar({ json_schema } as unknown as GenerateParams, where, undefined);
    await expect(written).rejects.toMatchObject({
      code: 4003,
      details: { path: `${where}.params.json_schema` },
    });
  });

  it('with the bound that a value must not reach', () => {
    expect(refused(() => plan({ top_p: 0 })).message).toContain('a number more than 0 is expected, not 0');
  });

  it('are checked in linear time: 500 templates of blanks take no longer than their parsing', () => {
    const system = `{{${' '.repeat(16_000)}`;
    const params = { system: `${system}x}}`, prompt: `${system}y}}`, knowledge: { placement: 'template' } };
    for (let node = 0; node < 250; node++) expect(refused(() => plan(params)).code).toBe(4003);
  });

  const contradictory: [params: Record<string, unknown>, path: string][] = [
    [{ json_schema: {}, grammar: 'root ::= "a"' }, 'grammar'],
    [{ json_schema: {}, actions: [action] }, 'actions'],
    [{ grammar: 'root ::= "a"', actions: [action] }, 'actions'],
    [{ json_schema: {}, cite: 'marks' }, 'cite'],
    [{ grammar: 'root ::= "a"', cite: 'verbatim' }, 'cite'],
    [{ actions: [action], cite: 'verbatim' }, 'cite'],
    [{ json_schema: {}, stop: ['a'] }, 'stop'],
    [{ grammar: 'root ::= "a"', stop: ['a'] }, 'stop'],
    [{ actions: [action], stop: ['a'] }, 'stop'],
    [{ actions: [action, { name: 'close' }, action] }, 'actions[2].name'],
    [{ knowledge: { placement: 'template' } }, 'knowledge.placement'],
    [
      { knowledge: { placement: 'template', item: 'x' }, system: '{{#knowledge}}{{text}}{{/knowledge}}' },
      'knowledge.item',
    ],
    [
      { knowledge: { placement: 'template', header: 'x' }, prompt: '{{#knowledge}}{{/knowledge}}' },
      'knowledge.header',
    ],
    [{ on_no_knowledge: 'fallback' }, 'fallback'],
    [{ fallback: 'x' }, 'fallback'],
    [{ on_no_knowledge: 'refuse', fallback: 'x' }, 'fallback'],
    [{ min_relevance: 0.5 }, 'min_relevance'],
    [{ class: 'background', stream: true }, 'stream'],
    [{ context_size: 100, max_tokens: 100 }, 'max_tokens'],
    [{ prompt: ' \n' }, 'prompt'],
  ];
  it.each(contradictory)('%j at %s, as a contradiction', (params, path) => {
    const error = refused(() => plan(params));
    expect(error).toMatchObject({ code: 4003, details: { path: `${where}.params.${path}` } });
  });

  it.each([
    [{}],
    [{ actions: [action], cite: 'marks' }],
    [{ json_schema: { type: 'object' }, thinking: 'on' }],
    [{ on_no_knowledge: 'fallback', fallback: 'x', min_relevance: 0.2 }],
    [{ class: 'background', stream: false }],
    [{ knowledge: { placement: 'template' }, system: '{{#knowledge}}{{text}}{{/knowledge}}' }],
  ])('but not %j', (params) => {
    expect(plan(params)).toMatchObject({ id: 'talker', type: 'generate', historyTurns: 100 });
  });
});

describe('the tokens of a context', () => {
  const planned = (params: object, context: number, thinking = false) =>
    planTokens(schema.params.parse(params), new FakeTextModel({ facts: { thinking } }).facts, context, where);

  it.each([
    [{}, 8192, 512],
    [{}, 512, 128],
    [{ max_tokens: 100 }, 512, 100],
  ])('of a node with %j and a context of %i keep %i for the reply', (params, context, reserved) => {
    expect(planned(params, context)).toMatchObject({
      limits: { context, reserved },
      request: { maxTokens: reserved },
    });
  });

  it('keep the reply whole beside thinking', () => {
    const { limits, request } = planned({ max_tokens: 100, thinking: { budget: 200 } }, 1000, true);
    expect(request.thinking).toEqual({ budget: 200 });
    expect(request.maxTokens).toBeGreaterThanOrEqual(300);
    expect(limits.reserved).toBe(request.maxTokens);
    const on = planned({ max_tokens: 100, thinking: 'on' }, 1000, true);
    expect(on.request.thinking).toEqual({ budget: 250 });
  });

  it('must leave room for a prompt, and thinking needs a model that thinks', () => {
    const path = (name: string) => ({ code: 4003, details: { path: `${where}.params.${name}` } });
    expect(refused(() => planned({ max_tokens: 600 }, 512))).toMatchObject(path('max_tokens'));
    expect(refused(() => planned({ thinking: { budget: 600 } }, 512, true))).toMatchObject(path('thinking'));
    expect(refused(() => planned({ thinking: 'on' }, 512))).toMatchObject(path('thinking'));
  });
});
