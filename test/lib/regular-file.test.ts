import { execFileSync } from 'node:child_process';
import { pbkdf2, pbkdf2Sync } from 'node:crypto';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { describe, expect, test } from 'vitest';
import { ComputeSettingsCache } from '../../lib/devices/settings-cache.js';
import { EmbeddingModel, inspectFile, Records, TextIndex, VectorIndex } from '../../lib/index.js';
import { renameOver, replaceFile } from '../../lib/os/own-file.js';
import { readRegular } from '../../lib/os/regular-file.js';
import { loadKnowledgeBaseConfig } from '../../src/knowledge/config.js';
import { rejection } from '../helpers/errors.js';
import { temporaryFolder } from '../helpers/folder.js';

const file = temporaryFolder();
const rule = { isOurs: (text: string) => text.startsWith('ours'), maxBytes: 100 };

describe('replaceFile()', () => {
  test('writes where nothing, an empty file or one of ours is', async () => {
    const path = file('new', 'folder', 'f');
    await replaceFile(path, 'ours 1', rule);
    await replaceFile(path, 'ours 2', rule);
    writeFileSync(path, '');
    await replaceFile(path, 'ours 3', rule);
    expect(readFileSync(path, 'utf8')).toBe('ours 3');
    expect(readdirSync(file('new', 'folder'))).toEqual(['f']);
  });

  test.skipIf(process.platform === 'win32')(
    'keeps the permissions of the file that it replaces',
    async () => {
      for (const mode of [0o600, 0o640, 0o666]) {
        const path = file(`mode-${mode}`);
        writeFileSync(path, 'ours');
        chmodSync(path, mode);
        await replaceFile(path, 'ours again', rule);
        expect(statSync(path).mode & 0o777).toBe(mode);
      }
    },
  );

  test('leaves what is not ours, links and folders', async () => {
    mkdirSync(file('refused'));
    const path = (name: string) => file('refused', name);
    writeFileSync(path('diary'), 'dear diary');
    writeFileSync(path('long'), `ours ${'x'.repeat(100)}`);
    symlinkSync('long', path('link'));
    symlinkSync('nothing', path('dangling'));
    mkdirSync(path('folder'));
    const before = readdirSync(file('refused'));
    for (const name of before) await expect(replaceFile(path(name), 'ours', rule)).rejects.toThrow();
    expect(readdirSync(file('refused'))).toEqual(before);
    expect(readFileSync(path('diary'), 'utf8')).toBe('dear diary');
  });
});

test('a new file takes no name that another program takes in the last moment', async () => {
  const [from, to] = [file('from'), file('to')];
  writeFileSync(from, 'ours');
  let checks = 0;
  const renamed = renameOver(from, to, async () => {
    if (++checks > 1) throw new Error('taken');
    setImmediate(() => {
      // Threads are busy, so the name is looked up before and taken after the other file is there.
      for (let n = 0; n < 16; n++) pbkdf2('a', 'b', 50_000, 64, 'sha512', () => {});
      pbkdf2Sync('a', 'b', 5000, 64, 'sha512');
      writeFileSync(to, "somebody else's");
    });
  });
  await expect(renamed).rejects.toThrow('taken');
  expect(readFileSync(to, 'utf8')).toBe("somebody else's");
});

test('the settings cache replaces no other file', async () => {
  writeFileSync(file('diary'), 'dear diary');
  const cache = new ComputeSettingsCache(file('diary'), 'cpu', '1');
  await cache.add({
    fingerprint: 'f',
    name: 'n',
    path: 'p',
    candidates: ['a'],
    runtime: 'a',
    batchTokens: 1,
  });
  expect(readFileSync(file('diary'), 'utf8')).toBe('dear diary');
});

describe.skipIf(process.platform === 'win32')('a pipe that nobody writes to', () => {
  const pipe = () => {
    const path = file(`pipe${Math.random()}`);
    execFileSync('mkfifo', [path]);
    return path;
  };
  test('is refused at once, whatever it is given as', async () => {
    await rejection(Records.read(pipe()), 'IO');
    await rejection(VectorIndex.load(pipe()), 'IO');
    await rejection(TextIndex.load(pipe()), 'IO');
    await rejection(EmbeddingModel.load(pipe()), 'IO');
    await rejection(inspectFile(pipe()), 'IO');
    await rejection(loadKnowledgeBaseConfig(pipe()), 'IO');
    await expect(readRegular(pipe(), 10)).rejects.toThrow('not a regular file');
    expect(await new ComputeSettingsCache(pipe(), 'cpu', '1').read()).toEqual([]);
  });

  test('is refused at once as a device is, and a link loop is an error of the library', async () => {
    await rejection(Records.read('/dev/zero'), 'IO');
    await rejection(VectorIndex.load('/dev/zero'), 'IO');
    await rejection(EmbeddingModel.load('/dev/zero'), 'IO');
    await rejection(loadKnowledgeBaseConfig('/dev/zero'), 'IO');
    symlinkSync(file('loop'), file('loop'));
    for (const loop of [
      Records.read,
      VectorIndex.load,
      TextIndex.load,
      inspectFile,
      loadKnowledgeBaseConfig,
    ]) {
      await rejection(
        (loop as (path: string) => Promise<unknown>).call(
          loop === Records.read ? Records : loop === VectorIndex.load ? VectorIndex : TextIndex,
          file('loop'),
        ),
        'IO',
      );
    }
    await rejection(EmbeddingModel.load(file('loop')), 'IO');
  });
});
