import { describe, expect, it } from 'vitest';
import { isLargeGraph, planGraph, planLargeGraph } from '../../src/agents/graph.js';
import { loadNodeTypes } from '../../src/agents/nodes/load.js';
import { type GraphInput, graphSchema } from '../../src/protocol/graph.js';
import { refused } from '../helpers/errors.js';

const types = await loadNodeTypes();
const params = { embedded_string_storage: 'docs' };
const node = (id: string, extra: object = {}) => ({ id, type: 'retrieve', params: { ...params, ...extra } });

const order = (graph: GraphInput) => planGraph(graphSchema.parse(graph), types).nodes.map(({ id }) => id);

const refusal = (graph: GraphInput) => refused(() => order(graph));

describe('the order of a graph', () => {
  it('is the order written when there are no edges', () => {
    expect(order({ nodes: [node('c'), node('a'), node('b')] })).toEqual(['c', 'a', 'b']);
  });

  it('follows the edges, then the order written', () => {
    const nodes = ['d', 'c', 'b', 'a', 'x'].map((id) => node(id));
    const edges: [string, string][] = [
      ['a', 'b'],
      ['a', 'c'],
      ['b', 'd'],
      ['c', 'd'],
      ['c', 'd'],
    ];
    expect(order({ nodes, edges })).toEqual(['a', 'c', 'b', 'd', 'x']);
  });
});

describe('a graph of many long templates', () => {
  const queryOf = (length: number) => 'word '.repeat(length).slice(0, length);
  const graphOf = (nodes: number, length: number) =>
    graphSchema.parse({
      nodes: Array.from({ length: nodes }, (_, n) => node(`n${n}`, { query: queryOf(length) })),
    });
  const { signal } = new AbortController();

  it('is planned in slices, between which the event loop serves others, and with the same outcome', async () => {
    const graph = graphOf(64, 16_384);
    expect(isLargeGraph(graph, types)).toBe(true);
    let turns = 0;
    const count = () => {
      turns++;
      next = setImmediate(count);
    };
    let next = setImmediate(count);
    const { nodes } = await planLargeGraph(graph, types, signal);
    clearImmediate(next);
    expect(turns).toBeGreaterThanOrEqual(20);
    expect(nodes.map(({ id }) => id)).toEqual(planGraph(graph, types).nodes.map(({ id }) => id));
  });

  it('is refused for the same reasons, and given up when its session ends', async () => {
    const graph = graphOf(64, 16_384);
    const wrong = { ...graph, edges: [['n63', 'n64'] as [string, string]] };
    await expect(planLargeGraph(wrong, types, signal)).rejects.toMatchObject({ code: 4005 });
    const ending = new AbortController();
    const planning = planLargeGraph(graph, types, ending.signal);
    ending.abort(new Error('the session ended'));
    await expect(planning).rejects.toThrow('the session ended');
  });

  it('is not what most graphs are: they are planned at once', () => {
    expect(isLargeGraph(graphOf(256, 100), types)).toBe(false);
    expect(isLargeGraph(graphOf(1, 16_384), types)).toBe(false);
  });
});

describe('a graph is refused', () => {
  it('with an unknown type, naming the nearest', () => {
    const graph = { nodes: [node('a'), { id: 'b', type: 'retreive', params }] };
    expect(refusal(graph)).toMatchObject({
      code: 4001,
      name: 'UnknownNodeType',
      details: {
        path: 'graph.nodes[1].type',
        known: expect.arrayContaining(['canned_response', 'retrieve']),
        nearest: 'retrieve',
      },
    });
    expect(refusal({ nodes: [{ id: 'b', type: 'toString' }] }).code).toBe(4001);
  });

  it('with an unknown param, naming the nearest', () => {
    expect(refusal({ nodes: [node('a', { topk: 3 })] })).toMatchObject({
      code: 4002,
      name: 'UnknownParam',
      details: { path: 'graph.nodes[0].params.topk', nearest: 'top_k' },
    });
  });

  it('with a param that is missing, wrong or out of range', () => {
    const cases: [object, string][] = [
      [{ embedded_string_storage: undefined }, 'embedded_string_storage'],
      [{ embedded_string_storage: 7 }, 'embedded_string_storage'],
      [{ top_k: 0 }, 'top_k'],
      [{ top_k: 2.5 }, 'top_k'],
      [{ threshold: -1 }, 'threshold'],
      [{ mode: 'fuzzy' }, 'mode'],
      [{ mode: 'dense', rrf: { k: 10 } }, 'rrf'],
      [{ mode: 'lexical', threshold: 0.5 }, 'threshold'],
      [{ rrf: { candidates: 0 } }, 'rrf.candidates'],
      [{ query: '' }, 'query'],
      [{ query: '{{#open}}' }, 'query'],
    ];
    for (const [extra, param] of cases) {
      const path = `graph.nodes[0].params.${param}`;
      expect(refusal({ nodes: [node('a', extra)] }), path).toMatchObject({
        code: 4003,
        name: 'InvalidParam',
        details: { path },
      });
    }
  });

  it('with an id used twice', () => {
    expect(refusal({ nodes: [node('a'), node('b'), node('a')] })).toMatchObject({
      code: 4004,
      name: 'DuplicateNodeId',
      details: { path: 'graph.nodes[2].id', first: 0 },
    });
  });

  it('with an edge that leads nowhere', () => {
    const graph: GraphInput = {
      nodes: [node('kb'), node('reply')],
      edges: [
        ['kb', 'reply'],
        ['kb', 'repyl'],
      ],
    };
    expect(refusal(graph)).toMatchObject({
      code: 4005,
      name: 'DanglingEdge',
      details: { path: 'graph.edges[1][1]', nearest: 'reply' },
    });
  });

  it('with a cycle, naming its nodes in the direction of the edges', () => {
    const nodes = ['before', 'a', 'b', 'c', 'behind'].map((id) => node(id));
    const edges: [string, string][] = [
      ['before', 'a'],
      ['a', 'b'],
      ['b', 'c'],
      ['c', 'a'],
      ['c', 'behind'],
    ];
    const error = refusal({ nodes, edges });
    expect(error).toMatchObject({ code: 4006, name: 'GraphCycle', details: { path: 'graph.edges' } });
    const cycle = error.details.cycle as string[];
    expect([...new Set(cycle)].sort()).toEqual(['a', 'b', 'c']);
    expect(cycle[0]).toBe(cycle.at(-1));
    for (const [index, from] of cycle.slice(0, -1).entries())
      expect(edges).toContainEqual([from, cycle[index + 1]]);
  });

  it('with an edge from a node to itself', () => {
    expect(refusal({ nodes: [node('a')], edges: [['a', 'a']] })).toMatchObject({
      code: 4006,
      details: { cycle: ['a', 'a'] },
    });
  });
});
