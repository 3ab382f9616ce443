/** Fails a file that is taken for one that never loads the addon (scripts/testing/import-graph.mjs) and has loaded it. */
import { createRequire } from 'node:module';
import { afterAll, expect } from 'vitest';

const { cache } = createRequire(import.meta.url);

afterAll(() => expect(Object.keys(cache).filter((file) => file.endsWith('.node'))).toEqual([]));
