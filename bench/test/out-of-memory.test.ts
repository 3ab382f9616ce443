import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../test/helpers/folder.js';
import { tinyReranker } from '../../test/helpers/rerankers.js';

const folder = temporaryFolder();
const children = join(import.meta.dirname, 'children');
const run = promisify(execFile);

/** Path of the library that makes allocations of the addon fail; undefined if none can be compiled here. */
async function failingNew(): Promise<string | undefined> {
  const library = folder('failing-new.so');
  const source = join(children, 'failing-new.cc');
  const flags = ['-std=c++20', '-O1', '-fPIC', '-shared', '-o', library, source, '-ldl'];
  if (process.platform !== 'linux') return undefined;
  return run('g++', flags).then(
    () => library,
    () => undefined,
  );
}

it('a request whose memory cannot be allocated is 5003, whichever allocation fails, and the server goes on', async (test) => {
  const library = await failingNew();
  if (library === undefined) test.skip('failing allocations need Linux and g++');
  const counter = folder('counter');
  writeFileSync(counter, Buffer.alloc(8));
  const env = { ...process.env, LD_PRELOAD: library, LOREKEEP_FAILING_NEW: counter };
  const child = join(children, 'out-of-memory.mjs');
  const { stdout } = await run(
    process.execPath,
    [child, folder('kb'), counter, await tinyReranker('one-layer')],
    { env },
  );
  const seen = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(seen).toHaveLength(13);
  for (const { kind, codes, failures } of seen) {
    // A reply computes in memory that its model has allocated: it may have no large allocation of its own.
    if (failures > 0 || !/^a reply\b/.test(kind)) expect(codes['5003'], kind).toBeGreaterThan(0);
    // A request may do without an optional file or cache.
    const others = Object.keys(codes).filter((code) => !/^(5003|\w+Response|completed)$/.test(code));
    expect(others, kind).toEqual([]);
  }
});
