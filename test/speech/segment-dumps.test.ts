import { execFileSync, spawnSync } from 'node:child_process';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished, vi } from 'vitest';
import { type DumpLimits, SegmentDumps } from '../../src/speech/segment-dumps.js';
import { temporaryFolder } from '../helpers/folder.js';

const file = temporaryFolder();
const plenty: DumpLimits = { files: 100, bytes: 1e6, waiting: 1e6, recountMs: 60_000 };
const samples = new Float32Array(100).fill(0.5);
const bytes = 44 + 2 * samples.length;

/** Dumps to a folder that has files of an earlier server, and one of somebody else. */
async function dumpTo(name: string, limits: DumpLimits, segments: number) {
  const folder = file(name);
  mkdirSync(folder);
  writeFileSync(`${folder}/speech-s1-1-1-earlier.wav`, Buffer.alloc(bytes));
  writeFileSync(`${folder}/notes.wav`, Buffer.alloc(10 * bytes));
  const log = { info: vi.fn(), warn: vi.fn() };
  const dumps = new SegmentDumps(folder, log, limits);
  for (let segment = 1; segment <= segments; segment++)
    dumps.write({ session: 's2', stream: 1, segment, samples });
  await dumps.settled();
  const written = readdirSync(folder).filter((each) => each.startsWith('speech-s2-'));
  const warnings = log.warn.mock.calls.slice(1).map(([facts, message]) => ({ ...facts, message }));
  return { folder, written, warnings, dumps, log };
}

it('no more files are written than the limit, with those of earlier servers', async () => {
  const { folder, written, warnings } = await dumpTo('files', { ...plenty, files: 4 }, 6);
  expect(written.map((name) => name.slice(0, 12)).sort()).toEqual([
    'speech-s2-1-',
    'speech-s2-1-',
    'speech-s2-1-',
  ]);
  expect(warnings).toEqual([
    { folder, files: 4, bytes: 1e6, message: expect.stringContaining('has its limit') },
  ]);
  expect(readFileSync(`${folder}/speech-s1-1-1-earlier.wav`)).toEqual(Buffer.alloc(bytes));
});

it('no more bytes are written than the limit, with those of earlier servers', async () => {
  const { folder, written, warnings } = await dumpTo('bytes', { ...plenty, bytes: 3 * bytes + 1 }, 6);
  expect(written.map((name) => statSync(`${folder}/${name}`).size)).toEqual([bytes, bytes]);
  expect(warnings).toHaveLength(1);
  expect(readdirSync(folder)).toContain('notes.wav');
});

it('a full folder is counted again after a while, and has room once files are deleted', async () => {
  const now = vi.spyOn(performance, 'now').mockReturnValue(0);
  onTestFinished(() => now.mockRestore());
  const { folder, written, warnings, dumps, log } = await dumpTo('recount', { ...plenty, files: 3 }, 4);
  expect([written.length, warnings.length]).toEqual([2, 1]);
  for (const name of written) unlinkSync(`${folder}/${name}`);
  const later = async (ms: number, segment: number) => {
    now.mockReturnValue(ms);
    dumps.write({ session: 's3', stream: 1, segment, samples });
    await dumps.settled();
    return readdirSync(folder).filter((name) => name.startsWith('speech-s3-')).length;
  };
  expect(await later(59_999, 1)).toBe(0);
  expect(await later(60_000, 2)).toBe(1);
  expect(await later(60_001, 3)).toBe(2);
  // It is full again, and says so again.
  expect(await later(60_002, 4)).toBe(2);
  expect(log.warn).toHaveBeenCalledTimes(3);
});

it('a link that leads nowhere counts as a file', async () => {
  const folder = file('link');
  mkdirSync(folder);
  symlinkSync(file('nowhere'), `${folder}/speech-a.wav`);
  writeFileSync(`${folder}/speech-b.wav`, '');
  const log = { info: vi.fn(), warn: vi.fn() };
  const dumps = new SegmentDumps(folder, log, { ...plenty, files: 2 });
  dumps.write({ session: 's2', stream: 1, segment: 1, samples });
  await dumps.settled();
  expect(readdirSync(folder)).toHaveLength(2);
});

it('a folder that cannot be written to is told once', async () => {
  writeFileSync(file('no-folder'), '');
  const log = { info: vi.fn(), warn: vi.fn() };
  const dumps = new SegmentDumps(file('no-folder'), log, plenty);
  for (let segment = 1; segment <= 3; segment++) dumps.write({ session: 's2', stream: 1, segment, samples });
  await dumps.settled();
  expect(log.warn.mock.calls.slice(1)).toEqual([
    [
      { folder: file('no-folder'), err: expect.objectContaining({ code: 'EEXIST' }) },
      expect.stringContaining('not written'),
    ],
  ]);
});

it('segments do not pile up before a slow folder', async () => {
  const { written, warnings, dumps, folder } = await dumpTo(
    'slow',
    { ...plenty, waiting: 2 * samples.byteLength },
    3,
  );
  expect(written).toHaveLength(2);
  expect(warnings).toEqual([
    expect.objectContaining({ err: expect.objectContaining({ message: expect.stringContaining('slower') }) }),
  ]);
  // There is room again once they are written.
  dumps.write({ session: 's3', stream: 1, segment: 1, samples });
  await dumps.settled();
  expect(readdirSync(folder).filter((name) => name.startsWith('speech-s3-'))).toHaveLength(1);
});

it.skipIf(process.platform !== 'linux')(
  'a full disk leaves whole files alone, and does not use up the limit',
  () => {
    const script = fileURLToPath(new URL('children/full-dumps.mjs', import.meta.url));
    const folder = file('full');
    mkdirSync(folder);
    const small = ['-m', 'sh', '-c', 'mount -t tmpfs -o size=104k tmpfs "$0" && exec "$@"', folder];
    const tried = spawnSync('unshare', [...small, 'true'], { encoding: 'utf8' });
    if (tried.status !== 0)
      return console.log(`skipped: no file system may be mounted here: ${tried.stderr}`);
    const output = execFileSync('unshare', [...small, process.execPath, script, folder], {
      encoding: 'utf8',
    });
    const whole = 44 + 2 * 16_000;
    expect(JSON.parse(output)).toEqual({ warned: ['ENOSPC'], sizes: [whole, whole, whole] });
  },
);
