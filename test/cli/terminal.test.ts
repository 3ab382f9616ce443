import fc from 'fast-check';
import { expect, it } from 'vitest';
import { columns, ellipsizeMiddle } from '../../src/cli/terminal/columns.js';
import { tableLines } from '../../src/cli/terminal/table.js';
import { hasColours } from '../../src/log/colours.js';

it('FORCE_COLOR decides before NO_COLOR, and terminals have colours otherwise', () => {
  const cases: [isTTY: boolean, environment: NodeJS.ProcessEnv, expected: boolean][] = [
    [true, { TERM: 'xterm-256color' }, true],
    [true, { TERM: 'dumb' }, false],
    [true, { TERM: 'xterm-256color', NO_COLOR: '1' }, false],
    [true, { TERM: 'xterm-256color', FORCE_COLOR: '0' }, false],
    [false, { TERM: 'xterm-256color' }, false],
    [false, { FORCE_COLOR: '1' }, true],
    [false, { FORCE_COLOR: '3', TERM: 'dumb' }, true],
    [false, { FORCE_COLOR: '1', NO_COLOR: '1' }, true],
    [false, { FORCE_COLOR: '0' }, false],
    [false, { NO_COLOR: '1' }, false],
  ];
  for (const [isTTY, environment, expected] of cases)
    expect(hasColours({ isTTY }, environment), JSON.stringify([isTTY, environment])).toBe(expected);
});

it('a text that is truncated in the middle fits and keeps both ends', () => {
  const text = fc.string({ unit: 'grapheme' }).filter((each) => columns(each) > 0);
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 30 }), (long, width) => {
      const short = ellipsizeMiddle(long, width);
      expect(columns(short)).toBeLessThanOrEqual(width);
      if (columns(long) <= width) expect(short).toBe(long);
    }),
  );
  expect(ellipsizeMiddle('harbour/lighthouse.md#12', 11)).toBe('harbo…md#12');
});

it('tables tell apart ids that differ at the end', () => {
  const layout = [{ title: 'id', align: 'left', widest: 12, cut: 'middle' } as const];
  const ids = ['openstax-american-government:0001', 'openstax-american-government:0002'];
  expect(tableLines(layout, [ids.slice(0, 1), ids.slice(1)]).slice(1)).toEqual([
    'openst…:0001',
    'openst…:0002',
  ]);
});
