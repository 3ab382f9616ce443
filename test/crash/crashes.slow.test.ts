import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { dumpName, maxKept } from '../../src/operations/crash/dump-files.js';
import { temporaryFolder } from '../helpers/folder.js';
import { dumpsExist, dumpsIn, emptyFolder, runToItsEnd, Walker } from './crash.js';

const inFolder = temporaryFolder();

describe.runIf(dumpsExist)('a crash', () => {
  let walker: Walker;

  beforeAll(async () => {
    walker = await Walker.create(inFolder('symbols'));
  }, 900_000); // the first run builds the tools

  it.each([
    ['segmentation-fault', 'calling', 'SIGSEGV'],
    ['segmentation-fault', 'pool', 'SIGSEGV'],
    ['segmentation-fault', 'inference', 'SIGSEGV'],
    ['segmentation-fault', 'worker', 'SIGSEGV'],
    ['stack-overflow', 'calling', 'SIGSEGV'],
    ['stack-overflow', 'pool', 'SIGSEGV'],
    ['stack-overflow', 'inference', 'SIGSEGV'],
    ['stack-overflow', 'worker', 'SIGSEGV'],
    ['abort', 'calling', 'SIGABRT'],
    ['exception', 'pool', 'SIGABRT'],
  ])('by %s on the %s thread leaves a dump that names our function', async (kind, thread, signal) => {
    const folder = emptyFolder(inFolder(`${kind}-${thread}`));
    const crash = await runToItsEnd('crash.mjs', [folder, kind, thread]);
    expect(crash.signal, crash.output).toBe(signal);
    expect(crash.dumps).toHaveLength(1);
    const [dump = ''] = crash.dumps;
    expect(crash.output).toContain(`lorekeep: crashed; the crash dump is ${dump}`);
    expect(statSync(dump).mode & 0o777).toBe(0o600);
    const { crashed } = await walker.walk(dump);
    expect(crashed.join('\n')).toContain('lorekeep::crash::');
    expect(crashed.join('\n')).toContain(kind === 'stack-overflow' ? 'overflow_stack' : 'force_crash');
  });

  it('for want of V8 heap leaves a dump with the threads of the pool', async () => {
    const folder = emptyFolder(inFolder('out-of-memory'));
    const execArgv = ['--max-old-space-size=30'];
    const crash = await runToItsEnd('crash.mjs', [folder, 'out-of-memory', 'calling'], { execArgv });
    expect(crash.signal, crash.output).toMatch(/SIGABRT|SIGTRAP/);
    expect(crash.output).toContain('heap out of memory');
    expect(crash.dumps).toHaveLength(1);
    const { all } = await walker.walk(crash.dumps[0] as string);
    expect(all.join('\n')).toContain('lorekeep::ThreadPool::run');
  });
});

describe.runIf(dumpsExist)('a crash dump', () => {
  it('has no environment, command line or text of a user', async () => {
    const folder = emptyFolder(inFolder('secrets'));
    const secrets = {
      LOREKEEP_TEST_SECRET: 'qX7vRk2mZp9wLd4tHs6yBn3cJf8g',
      LOREKEEP_TEST_TEXT: 'wordoneuvx wordtwokqz wordthreejpb',
    };
    const argument = 'Tn5bGh8jKm2pQr6sVw9xYz3cDf7e';
    const crash = await runToItsEnd('crash.mjs', [folder, 'abort', 'calling', argument], { env: secrets });
    const bytes = readFileSync(crash.dumps[0] as string);
    // "calling", an argument of the call that crashes, is on the native stack; others are in the heap.
    for (const planted of ['calling', argument, ...Object.values(secrets)]) {
      const size = Math.min(planted.length, 8);
      for (let i = 0; i + size <= planted.length; i++) {
        const piece = planted.slice(i, i + size);
        expect(bytes.includes(piece), piece).toBe(false);
        expect(bytes.includes(Buffer.from(piece, 'utf16le')), piece).toBe(false);
      }
    }
    for (const name of Object.keys(secrets)) expect(bytes.includes(name), name).toBe(false);
  });

  it(`is one of at most ${maxKept}: a further one replaces the oldest, and no other file`, async () => {
    const folder = emptyFolder(inFolder('kept'));
    const older = Array.from({ length: maxKept + 2 }, (_, i) =>
      join(folder, dumpName(new Date(i * 1000), i)),
    );
    for (const path of older) writeFileSync(path, 'MDMP and the rest of a dump');
    const foreign = ['crash-notes.dmp', 'other.dmp', dumpName(new Date(0), 99)].map((n) => join(folder, n));
    for (const path of foreign) writeFileSync(path, 'MDM');
    const crash = await runToItsEnd('crash.mjs', [folder, 'abort', 'calling']);
    const kept = crash.dumps.filter((path) => !foreign.includes(path));
    expect(kept).toHaveLength(maxKept);
    expect(kept.filter((path) => !older.includes(path))).toHaveLength(1);
    expect(crash.dumps).toEqual(expect.arrayContaining(foreign));
  });

  it('that cannot be written is reported, and the process ends as it would have', async () => {
    const full = emptyFolder(inFolder('full'));
    // A limit on the size of files stands for a full disk: writing the dump fails half-way.
    const wrapper = ['bash', '-c', 'ulimit -c 0 -f 16 && exec "$@"', 'bash'];
    const crash = await runToItsEnd('crash.mjs', [full, 'segmentation-fault', 'pool'], { wrapper });
    expect(crash).toMatchObject({ signal: 'SIGSEGV', dumps: [] });
    expect(crash.output).toContain(`the crash dump could not be written to ${full}`);
  });

  it('is missing, with a warning, where the folder cannot be made', async () => {
    const file = inFolder('file');
    writeFileSync(file, '');
    const crash = await runToItsEnd('crash.mjs', [join(file, 'dumps'), 'abort', 'calling']);
    expect(crash).toMatchObject({ signal: 'SIGABRT', dumps: [] });
    expect(crash.output).toMatch(
      /crash_dump\.dir: a crash would leave no dump, because .*dumps cannot be written/,
    );
  });
});

it.runIf(dumpsExist)('20,000 traps of WebAssembly stay errors', async () => {
  const folder = emptyFolder(inFolder('traps'));
  const { code, signal, output } = await runToItsEnd('traps.mjs', [folder]);
  expect({ code, signal, output }).toEqual({ code: 0, signal: null, output: '20000 errors\n' });
  expect(dumpsIn(folder)).toEqual([]);
});
