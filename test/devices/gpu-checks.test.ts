// The checks of a GPU with the stand-in plugin: their program, not a GPU. `npm run test:gpu -- --rehearse` runs all of them.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../helpers/folder.js';
import { haveModels, realModel, stories } from '../helpers/real-models.js';
import { standInFolder } from '../helpers/stand-in-plugin.mjs';

const folder = temporaryFolder();
const program = join('test', 'devices', 'gpu', 'checks.mjs');
/** The checks whose names contain one of the words. */
async function run(words: string, args: string[], environment: NodeJS.ProcessEnv = {}) {
  const out = folder(`${Math.random()}.jsonl`);
  const env = {
    ...process.env,
    LOREKEEP_CACHE: folder('cache'),
    LOREKEEP_BACKENDS: folder('plugins'),
    ...environment,
  };
  const all = [program, '--backend', 'vulkan', '--small', '--out', out, '--only', words, ...args];
  await promisify(execFile)(process.execPath, all, { env }).catch(() => undefined);
  const lines = readFileSync(out, 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as { check: string; status: string; reason?: string });
}

it.skipIf(!haveModels(stories))(
  'the checks pass with the stand-in plugin, and a graph is left out',
  async () => {
    standInFolder(folder('plugins'));
    const found = await run('plugin loads,stop string,graphs,start', ['--stories', realModel(stories)]);
    expect(found.map(({ check, status }) => [check, status])).toEqual([
      ['the plugin loads', 'passed'],
      ['a stop string ends a reply', 'passed'],
      ['CUDA graphs are on', 'left out'],
      ['memory returns to the start', 'passed'],
    ]);
  },
);

it('a check fails that finds something else, and the next one runs', async () => {
  standInFolder(folder('plugins'));
  const found = await run('plugin loads,stop string', ['--stories', folder('missing.gguf')], {
    STAND_IN_FAILS: 'open',
  });
  expect(found.map(({ status }) => status)).toEqual(['failed', 'failed']);
  expect(found[0]?.reason).toMatch(/^failed: /);
});

it('a check is late if no time is left', async () => {
  const [found] = await run('plugin loads', ['--limit', '0']);
  expect(found).toMatchObject({ check: 'the plugin loads', status: 'late' });
});
