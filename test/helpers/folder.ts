import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

/** A folder for one test file, removed after its tests. Returns a function that joins names to it. */
export function temporaryFolder(): (...names: string[]) => string {
  const folder = mkdtempSync(join(tmpdir(), 'lorekeep-test-'));
  // A program that a test ended may still write its last file while the folder is emptied.
  afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20 }));
  return (...names) => join(folder, ...names);
}
