import { rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

// Not the user's own, and empty: what one run measured must not decide what the next one tests.
const LOREKEEP_CACHE = fileURLToPath(new URL('.cache/embedding', import.meta.url));
rmSync(LOREKEEP_CACHE, { recursive: true, force: true });

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // A process per file: the addon keeps process-wide state, and a crash must name its file.
    pool: 'forks',
    // Files wait for servers, child processes and timers about half of their time.
    maxWorkers: 2 * availableParallelism(),
    env: { LOREKEEP_CACHE },
    setupFiles: ['test/helpers/neutral-environment.ts'],
    // Against tests that hang, on machines however slow and busy: no test is about time.
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
});
