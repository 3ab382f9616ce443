import { join } from 'node:path';
import { run } from '../tool/command.mjs';
import { root } from '../tool/project.mjs';

const minutes = 3;

/** A short run of the soak benchmark: wrong replies, handles that stay open and memory that keeps growing fail it. */
export const soak = {
  name: `soak, ${minutes} minutes`,
  run: async () => {
    const program = join(root, 'bench', 'server', 'soak.mjs');
    await run(process.execPath, [program, '--minutes', String(minutes)], { cwd: root });
    return { passed: 1 };
  },
};
