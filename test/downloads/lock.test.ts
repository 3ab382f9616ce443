import { mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { lockFolder } from '../../src/base/files/folder-lock.js';
import { temporaryFolder } from '../helpers/folder.js';
import { leapingClock, never, start } from './scene.js';

const inFolder = temporaryFolder();

it('one lock serves all; a lock of a process that has ended or fell silent is taken over', async () => {
  const folder = inFolder('locked');
  mkdirSync(folder);
  const held = await lockFolder(folder, never);
  const order: string[] = [];
  let waiting = () => {};
  const waits = new Promise<void>((resolve) => {
    waiting = resolve;
  });
  const second = lockFolder(folder, never, waiting).then((free) => {
    order.push('second');
    return free;
  });
  await waits;
  order.push('first');
  await held.release();
  await (await second).release();
  expect(order).toEqual(['first', 'second']);
  // No process has this number.
  writeFileSync(join(folder, '.lock'), '4194305 dead\n');
  await (await lockFolder(folder, never)).release();
  writeFileSync(join(folder, '.lock'), `${process.pid} silent\n`);
  utimesSync(join(folder, '.lock'), new Date(0), new Date(0));
  leapingClock(10_000);
  await (await lockFolder(folder, never)).release();
  expect(readdirSync(folder)).toEqual([]);
});

it('a lock that cannot be written is an error that names it', async () => {
  const file = join(inFolder('absent'), '.lock');
  await expect(lockFolder(inFolder('absent'), never)).rejects.toMatchObject({
    code: 'IO',
    message: expect.stringContaining(`${file}: cannot be written: ENOENT`),
  });
});

it('a lock that looks old is watched before it is taken over: a machine may have slept', async () => {
  const folder = inFolder('slept');
  mkdirSync(folder);
  const path = join(folder, '.lock');
  writeFileSync(path, `${process.pid} awake\n`);
  utimesSync(path, new Date(0), new Date(0));
  // Its holder touches it as soon as the other one waits, and gives it back.
  const lock = await lockFolder(folder, never, () => {
    utimesSync(path, new Date(1000), new Date(1000));
    leapingClock(100);
    rmSync(path);
  });
  await lock.release();
});

it('a process that was stopped until another one took over changes nothing', async () => {
  const { server, folder, downloads, variant } = await start();
  let stopped: ServerResponse | undefined;
  server.intercept = (_, response) => {
    stopped = response.writeHead(200, { 'content-length': 300_000, etag: '"one"' });
    response.write(server.content.subarray(0, 1000));
    return true;
  };
  const onProgress = ({ done }: { done: number }) => {
    if (done !== 1000) return;
    writeFileSync(join(folder, '.lock'), `${process.pid} other\n`);
    leapingClock(15_000);
    stopped?.end(server.content.subarray(1000));
  };
  await expect(downloads.pull(variant, { signal: never, environment: {}, onProgress })).rejects.toMatchObject(
    {
      code: 'IO',
      detail: {
        reason: expect.stringMatching(/another one took the folder over; start the download again$/),
      },
    },
  );
  expect(readFileSync(join(folder, '.lock'), 'utf8')).toBe(`${process.pid} other\n`);
  const part = readdirSync(folder).find((name) => name.endsWith('.part')) ?? '';
  expect(readFileSync(join(folder, part)).equals(server.content.subarray(0, 1000))).toBe(true);
});
