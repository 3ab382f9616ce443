import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../helpers/folder.js';
import { createTinyModel } from '../helpers/tiny-model/tiny-model.mjs';

const run = promisify(execFile);
const child = fileURLToPath(new URL('children/changed-file.mjs', import.meta.url));
const file = temporaryFolder();

describe.skipIf(process.platform === 'win32')('an index file that is in use', () => {
  const right = ['right', 'index right'];
  const noticed = ['CORRUPT: true', 'index CORRUPT'];
  test.each([
    ['truncated to nothing', noticed],
    ['truncated to a half', noticed],
    ['overwritten by another', noticed],
    ['overwritten by noise', noticed],
    ['overwritten with its time set back', noticed],
    ['replaced', right],
  ])(
    'and is %s ends no process and gives no wrong result',
    { timeout: 120_000 },
    async (change, expected) => {
      const folder = file(change.replaceAll(/\W/g, ''));
      mkdirSync(folder);
      await createTinyModel({
        texts: ['honey bees', 'glacier bees'],
        path: `${folder}/tiny.gguf`,
        dimension: 64,
      });
      const { stdout } = await run(process.execPath, [child, folder, change]);
      expect(JSON.parse(stdout)).toEqual({ before: right, after: expected });
    },
  );
});
