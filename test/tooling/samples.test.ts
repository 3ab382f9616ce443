import { expect, it } from 'vitest';
import { Program } from '../server/program.js';

it('README.md, docs/cli.md and docs/demo.md show what the commands print (scripts/generate-samples.mjs --write)', async () => {
  const program = Program.run('scripts/generate-samples.mjs', '--check');
  const { code } = await program.ended;
  expect([code, program.stderr]).toEqual([0, '']);
});
