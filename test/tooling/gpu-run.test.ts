import { spawnSync } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../helpers/folder.js';

const root = join(import.meta.dirname, '..', '..');
const { callBytes, partBytes, requireRoom, split } = await import(
  new URL('../../scripts/gpu/pack.mjs', import.meta.url).href
);
const folder = temporaryFolder();

it('an archive is split into parts that give it back, and refused if they do not fit beside the checkout', () => {
  const archive = folder('archive');
  writeFileSync(archive, Buffer.from(Array.from({ length: 25 }, (_, n) => n)));
  const parts: string[] = split(archive, folder('.'), 10);
  expect(parts.map((part) => statSync(part).size)).toEqual([10, 10, 5]);
  expect(Buffer.concat(parts.map((part) => readFileSync(part)))).toEqual(readFileSync(archive));
  requireRoom(parts, callBytes - 10);
  expect(() => requireRoom(parts, callBytes - 9)).toThrow('left beside the files of the checkout');
  expect(() => requireRoom([...parts, ...parts], 0)).toThrow('the archive has 6 parts');
  expect(partBytes).toBeLessThan(callBytes / 2);
});

/** Runs lines of shell with the functions of run.sh. */
function steps(lines: string, environment: NodeJS.ProcessEnv = {}) {
  const out = folder(`out-${Math.random()}`);
  const env = { ...process.env, OUT: out, LOREKEEP_GPU_STEPS: 'none', ...environment };
  const script = join('scripts', 'gpu', 'run.sh');
  const { status, stderr } = spawnSync('sh', ['-c', `. scripts/gpu/run.sh\n${lines}`, script], {
    cwd: root,
    env,
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([0, '']);
  const recorded = readFileSync(join(out, 'results.jsonl'), 'utf8').trim().split('\n');
  const found = recorded.map((line) => JSON.parse(line) as { step: string; status: string });
  return { out, found: found.map(({ step, status: how }) => [step, how]) };
}

it.skipIf(process.platform === 'win32')(
  'a step that hangs ends at its limit with what it started, and the next ones run',
  () => {
    const { out, found } = steps(
      `step hangs 1 sh -c 'sleep 600 & echo $! >"$OUT/child"; wait'
      step fails 60 sh -c 'echo because; exit 3'
      step works 60 true`,
      { LOREKEEP_GPU_SECONDS: '600' },
    );
    expect(found).toEqual([
      ['hangs', 'late'],
      ['fails', 'failed'],
      ['works', 'done'],
    ]);
    expect(readFileSync(join(out, 'log'), 'utf8')).toContain('because');
    const child = Number(readFileSync(join(out, 'child'), 'utf8'));
    const state = spawnSync('ps', ['-o', 'stat=', '-p', String(child)], { encoding: 'utf8' }).stdout.trim();
    expect(state === '' || state.startsWith('Z')).toBe(true);
  },
);

it.skipIf(process.platform === 'win32')('steps for which no time is left are named', () => {
  const { found } = steps('step first 60 true || true', { LOREKEEP_GPU_SECONDS: '0' });
  expect(found).toEqual([['first', 'left out']]);
});
