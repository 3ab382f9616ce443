import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Flow } from '../../src/agents/flow.js';
import { testSeed } from '../helpers/random.js';

interface Sample {
  order: string;
  edges?: string;
  targets?: string;
  /** `g>x`: node g finds something and leads to x. */
  jumps?: string;
}

/** The nodes that one turn runs. Nodes are letters; edges and jumps are written `a>b`. */
function run({ order, edges = '', targets = '', jumps = '' }: Sample): string {
  const pairs = (text: string) => (text === '' ? [] : text.split(' ').map((pair) => pair.split('>')));
  const flow = new Flow({
    order: [...order],
    edges: pairs(edges) as [string, string][],
    targets: new Set(targets),
  });
  const leads = new Map(pairs(jumps) as [string, string][]);
  const walk = flow.walk();
  const ran = flow.order.filter((id) => {
    if (!walk.isDue(id)) return false;
    walk.hasRun(id, leads.get(id));
    return true;
  });
  return ran.join('');
}

describe('a turn through a graph', () => {
  it('runs every node when none is a target', () => {
    expect(run({ order: 'abc' })).toBe('abc');
    expect(run({ order: 'abcd', edges: 'a>b a>c b>d c>d' })).toBe('abcd');
  });

  it('leaves a target out, and what it alone leads to, when nothing was found', () => {
    expect(run({ order: 'gkrx', targets: 'x' })).toBe('gkr');
    expect(run({ order: 'gkrxy', edges: 'g>k k>r x>y', targets: 'x' })).toBe('gkr');
    expect(run({ order: 'gkx', edges: 'g>k g>x', targets: 'x' })).toBe('gk');
  });

  it('goes on with the target and what follows it, and with nothing else, when something was found', () => {
    expect(run({ order: 'gkrx', targets: 'x', jumps: 'g>x' })).toBe('gx');
    expect(run({ order: 'gxkr', targets: 'x', jumps: 'g>x' })).toBe('gx');
    expect(run({ order: 'gkrxy', edges: 'g>k k>r x>y', targets: 'x', jumps: 'g>x' })).toBe('gxy');
    expect(run({ order: 'agkxz', edges: 'g>k x>z', targets: 'x', jumps: 'g>x' })).toBe('agxz');
  });

  it('runs a node where branches meet, whichever was taken', () => {
    const graph = { order: 'gkrxe', edges: 'g>k k>r r>e x>e', targets: 'x' };
    expect(run(graph)).toBe('gkre');
    expect(run({ ...graph, jumps: 'g>x' })).toBe('gxe');
  });

  it('may branch again within a branch', () => {
    const graph = { order: 'gahbxy', edges: 'g>a x>h h>b', targets: 'xy' };
    expect(run({ ...graph, order: 'gaxhby', jumps: 'g>x' })).toBe('gxhb');
    expect(run({ ...graph, order: 'gaxhby', jumps: 'g>x h>y' })).toBe('gxhy');
    expect(run({ ...graph, order: 'gaxhby' })).toBe('ga');
  });

  it('may reach one target from several guardrails', () => {
    const graph = { order: 'gkhrx', targets: 'x' };
    expect(run({ ...graph, jumps: 'g>x h>x' })).toBe('gx');
    expect(run({ ...graph, jumps: 'h>x' })).toBe('gkhx');
  });

  it('never runs a target unasked, and never a node behind skipped ones alone', () => {
    const letters = [...'abcdefgh'];
    const forward = fc
      .tuple(fc.nat(7), fc.nat(7))
      .filter(([from, to]) => from < to)
      .map(([from, to]) => `${letters[from]}>${letters[to]}`);
    const graphs = fc.record({
      edges: fc.array(forward, { maxLength: 10 }),
      jumps: fc.uniqueArray(forward, { maxLength: 3, selector: (jump) => jump[0] }),
      found: fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }),
    });
    fc.assert(
      fc.property(graphs, ({ edges, jumps, found }) => {
        const targets = jumps.map((jump) => jump[2]).join('');
        const taken = jumps.filter((_, index) => found[index]);
        const ran = run({ order: letters.join(''), edges: edges.join(' '), targets, jumps: taken.join(' ') });
        for (const [index, id] of [...ran].entries()) {
          const before = ran.slice(0, index);
          const asked = taken.some((jump) => jump[2] === id && before.includes(jump[0] as string));
          const sources = edges.filter((edge) => edge[2] === id).map((edge) => edge[0] as string);
          if (targets.includes(id)) expect(asked).toBe(true);
          else expect(sources.length === 0 || sources.some((source) => before.includes(source))).toBe(true);
        }
      }),
      { seed: testSeed, numRuns: 2000 },
    );
  });
});
