import { expect, it } from 'vitest';
import { type Prefix, prefixTree } from '../../web/monitor/prefixes.js';

const part = (depth: number, tokens: number, fields: object = {}) => ({
  ...{ depth, tokens, running: 0, kept: 0, pinned: 0, idleMs: 0 },
  ...fields,
});

const shown = ({ tokens, all, children }: Prefix): unknown => [
  tokens,
  `${all.running} ${all.kept} ${all.pinned} ${all.idleMs}`,
  ...children.map(shown),
];

it('parts add up what is below them, the most used ones first', () => {
  const roots = prefixTree([
    part(0, 10, { kept: 1, idleMs: 50 }),
    part(0, 500, { kept: 1, pinned: 1, idleMs: 9000 }),
    part(1, 40),
    part(2, 5, { running: 1, idleMs: 3 }),
    part(2, 6, { kept: 2, idleMs: 70 }),
    part(1, 7, { kept: 1, idleMs: 800 }),
  ]);
  expect(roots.map(shown)).toEqual([
    [500, '1 4 1 3', [40, '1 2 0 3', [6, '0 2 0 70'], [5, '1 0 0 3']], [7, '0 1 0 800']],
    [10, '0 1 0 50'],
  ]);
  expect(prefixTree([])).toEqual([]);
});
