import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { kindNames } from '../../bench/reliability/kinds.mjs';
import { runKinds } from '../../bench/reliability/run.mjs';
import { testSeed } from '../helpers/random.js';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lorekeep-reliability-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

// The short form of `node bench/reliability/main.mjs`.
test.each(kindNames)('%s: nothing goes wrong', async (kind) => {
  const said: string[] = [];
  const say = (line: string) => said.push(line);
  const [result] = await runKinds([kind], { folder, seed: testSeed, short: true, say });
  console.log(said.join('\n'));
  const outcomes = result?.outcomes ?? [];
  expect(outcomes.length).toBeGreaterThan(0);
  for (const { case: name, skipped } of outcomes)
    if (skipped) console.log(`${kind}, ${name}: left out: ${skipped}`);
  const problems = outcomes.flatMap(({ case: name, problems: own }) => own.map((what) => `${name}: ${what}`));
  expect(problems).toEqual([]);
  expect(outcomes.some(({ tried, skipped }) => tried > 0 || skipped !== undefined)).toBe(true);
});
