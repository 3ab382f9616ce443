import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { run } from '../tool/command.mjs';
import { root } from '../tool/project.mjs';
import { tscProgram } from '../tool/typescript.mjs';

/** The programs of installed packages are found when a check runs: `npm ci` may have run just before. */
const biomeProgram = () => {
  const require = createRequire(import.meta.url);
  const manifest = require.resolve('@biomejs/biome/package.json');
  return join(dirname(manifest), require(manifest).bin.biome);
};

const check = (name, command) => ({
  name,
  run: async () => {
    const result = await run(process.execPath, command(), { cwd: root, allowFailure: true });
    return result.code === 0 ? { passed: 1 } : { failed: 1 };
  },
});

export const checks = [
  check('Biome', () => [biomeProgram(), 'check', '--colors=off', '.']),
  check('clang-format', () => [join(root, 'scripts', 'format-native.mjs'), '--check']),
  check('layers', () => [join(root, 'scripts', 'check-layers.mjs')]),
  check('scope and sizes', () => [join(root, 'scripts', 'scope.mjs'), '--check']),
  check('links of the documentation', () => [join(root, 'scripts', 'check-links.mjs')]),
  check('third-party list', () => [join(root, 'scripts', 'third-party.mjs'), '--check']),
  check('layouts between C++ and TypeScript', () => [
    join(root, 'scripts', 'generate-layouts.mjs'),
    '--check',
  ]),
  check('schemas and frames of clients', () => [join(root, 'scripts', 'generate-schemas.mjs'), '--check']),
  check('automata of formats', () => [join(root, 'scripts', 'generate-formats.mjs'), '--check']),
  check('Unicode tables', () => [join(root, 'scripts', 'generate-unicode.mjs'), '--check']),
  check("types of the monitor's page", () => [tscProgram(), '-p', join(root, 'tsconfig.web.json')]),
  check('types of the tests', () => [tscProgram(), '-p', join(root, 'tsconfig.test.json')]),
];
