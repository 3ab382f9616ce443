import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { fileSizes } from '../../lib/internal.js';
import { temporaryFolder } from '../helpers/folder.js';

const at = temporaryFolder();

it('gives the sizes of files, then of those in a folder, and 0 for what is no regular file', async () => {
  const kept = at('kept ä');
  mkdirSync(join(kept, 'sub'), { recursive: true });
  writeFileSync(at('a'), 'four');
  writeFileSync(join(kept, 'b'), 'seven!!');
  const files = ['a', 'absent', 'kept ä'].map((name) => at(name));
  const sizes = await fileSizes(files, kept);
  expect(sizes.slice(0, files.length)).toEqual([4, 0, 0]);
  expect(sizes.slice(files.length).sort()).toEqual([0, 7]);
  expect(await fileSizes(files)).toEqual([4, 0, 0]);
  expect(await fileSizes([], at('absent'))).toEqual([]);
});

it('refuses a path with a NUL character', async () => {
  await expect(fileSizes(['a\0b'])).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
});
