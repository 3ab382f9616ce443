import { join } from 'node:path';
import { run } from '../tool/command.mjs';
import { root } from '../tool/project.mjs';

/** A program of bench/ whose exit status says whether anything went wrong. */
const program = (name, path, args) => ({
  name,
  run: async () => {
    await run(process.execPath, [join(root, 'bench', path), ...args], { cwd: root });
    return { passed: 1 };
  },
});

/** Kills, damaged files, hostile frames and attacks, each for a short while. */
export const campaign = program('reliability campaign, short', join('reliability', 'main.mjs'), [
  '--short',
  ...['--seed', process.env.LOREKEEP_TEST_SEED ?? '20240229'],
]);

/** Wrong replies, handles that stay open and memory that keeps growing fail it. */
export const soak = program('soak, 3 minutes', join('server', 'soak.mjs'), ['--minutes', '3']);
