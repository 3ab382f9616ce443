import { describe, expect, it } from 'vitest';
import { Program } from '../server/program.js';

const { isSameOutput } = await import(new URL('../../scripts/samples/compare.mjs', import.meta.url).href);

it('README.md and docs/ show what the commands print (scripts/generate-samples.mjs --write)', async () => {
  const program = Program.run('scripts/generate-samples.mjs', '--check');
  const { code } = await program.ended;
  expect([code, program.stderr]).toEqual([0, '']);
});

describe('the comparison of a page with what a command prints', () => {
  it.each([
    ['4 records in 12 ms', '4 records in 1.5 s'],
    ['1  0.9407  a', '1   0.9401  a'],
    ['built at 812/s', 'built at 90/s'],
  ])('ignores times, widths of columns and the last digits of a score: %s', (shown, printed) => {
    expect(isSameOutput(shown, printed)).toBe(true);
  });

  it.each([
    ['786 paragraphs', '892 paragraphs'],
    ['errors.md#416', 'errors.md#454'],
    ['score 0.94', 'score 0.86'],
    ['BM25 15.82', 'BM25 16.02'],
    ['version 0.1.0', 'version 0.2.0'],
    ['the lamp', 'the lamps'],
    ['one hit', 'one hit\nand another'],
  ])('sees other numbers and words: %s', (shown, printed) => {
    expect(isSameOutput(shown, printed)).toBe(false);
  });
});
