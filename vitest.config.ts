import { rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin } from 'vitest/config';
import { testsByAddon } from './scripts/testing/import-graph.mjs';

const root = dirname(fileURLToPath(import.meta.url));
// Not the user's own, and empty: what one run measured must not decide what the next one tests.
const LOREKEEP_CACHE = join(root, '.cache', 'embedding');

/**
 * Compiles the product, which tests import from dist/: a moment if nothing has changed. Returns the files of the projects.
 * LOREKEEP_TEST_COMPILED: whoever runs the tests of another platform has compiled it, where the compiler runs.
 */
async function prepare() {
  rmSync(LOREKEEP_CACHE, { recursive: true, force: true });
  if (process.env.LOREKEEP_TEST_COMPILED === undefined) {
    const { compileTypeScript } = await import(
      new URL('./scripts/tool/typescript.mjs', import.meta.url).href
    );
    await compileTypeScript();
  }
  return testsByAddon(root);
}

// vitest reads this file for each project.
const run = globalThis as { preparedTests?: ReturnType<typeof prepare> };
run.preparedTests ??= prepare();
const { withAddon, withoutAddon } = await run.preparedTests;

/** Resolves lib/ and src/ to dist/, as in programs: Node.js loads it without a transformation for each test file. */
const compiled: Plugin = {
  name: 'compiled',
  enforce: 'pre',
  resolveId(id, importer) {
    if (!id.startsWith('.') || importer === undefined) return undefined;
    const path = relative(root, resolve(dirname(importer), id));
    return /^(src|lib)[\\/].*\.js$/.test(path) ? join(root, 'dist', path) : undefined;
  },
};

/** Long forms repeat ten times as much. */
const hangsAfterMs = process.env.LOREKEEP_TEST_LONG === undefined ? 180_000 : 900_000;

export default defineConfig({
  plugins: [compiled],
  test: {
    server: { deps: { external: [/[\\/]dist[\\/](src|lib)[\\/]/] } },
    // Files wait for servers, child processes and timers about half of their time.
    maxWorkers: 2 * availableParallelism(),
    env: { LOREKEEP_CACHE },
    // Against tests that hang, on machines however slow and busy: no test is about time.
    testTimeout: hangsAfterMs,
    hookTimeout: hangsAfterMs,
    expect: { poll: { timeout: 60_000 } },
    projects: [
      {
        extends: true,
        test: {
          // A process per file: the addon keeps process-wide state, and a crash must name its file.
          name: 'addon',
          pool: 'forks',
          include: withAddon,
          setupFiles: [
            'test/helpers/patience.ts',
            'test/helpers/neutral-environment.ts',
            'test/helpers/watchdog.ts',
          ],
        },
      },
      {
        extends: true,
        test: {
          name: 'plain',
          pool: 'threads',
          include: withoutAddon,
          setupFiles: [
            'test/helpers/patience.ts',
            'test/helpers/neutral-environment.ts',
            'test/helpers/without-addon.ts',
          ],
        },
      },
      {
        extends: true,
        test: {
          name: 'bench',
          pool: 'forks',
          include: ['bench/test/*.test.ts'],
          setupFiles: ['test/helpers/patience.ts', 'test/helpers/neutral-environment.ts'],
        },
      },
    ],
  },
});
