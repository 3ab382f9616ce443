import { expect, it } from 'vitest';
import { runChild } from '../../test/helpers/children.js';
import { temporaryFolder } from '../../test/helpers/folder.js';

const folder = temporaryFolder();

interface Measured {
  kind: string;
  count: number;
  /** Bytes in V8's heap and its buffers, and the server's count of them. */
  grew: number;
  counted: number;
}

/** Estimates may be this many times what is measured: they cover native memory and the worst texts, too. */
const maxAbove = 8;

it('counts at least the memory that each kind of object takes, and not many times as much', async () => {
  const { code, output } = await runChild('../../../bench/test/children/estimates.mjs', [folder()], {
    execArgv: ['--expose-gc'],
  });
  expect(code, output).toBe(0);
  const lines = output.split('\n').filter((line) => line.startsWith('{'));
  const measured = lines.map((line): Measured => JSON.parse(line));
  expect(measured.map(({ kind }) => kind)).toEqual([
    ...['connections', 'sessions', 'agents', 'templates', 'patterns', 'edges'],
  ]);
  for (const { kind, count, grew, counted } of measured) {
    const each = `${kind}: ${Math.round(grew / count)} bytes each, ${Math.round(counted / count)} counted`;
    expect(grew, each).toBeLessThanOrEqual(counted);
    expect(grew * maxAbove, each).toBeGreaterThanOrEqual(counted);
  }
});
