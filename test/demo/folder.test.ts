import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { writeCatalog } from '../../src/demo/catalog.js';
import { ownFolder } from '../../src/demo/folder.js';
import { temporaryFolder } from '../helpers/folder.js';

const file = temporaryFolder();

it('the catalog of the demonstration replaces its own, and no file of somebody else', async () => {
  const folder = file('demo');
  mkdirSync(folder);
  const write = () => writeCatalog(folder, join('data', 'models.json'), { name: 'talker', path: '/m.gguf' });
  const path = await write();
  expect(await write()).toBe(path);
  expect(JSON.parse(readFileSync(path, 'utf8')).models.at(-1)).toMatchObject({ name: 'talker' });
  writeFileSync(path, 'mine');
  await expect(write()).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  expect(readFileSync(path, 'utf8')).toBe('mine');
});

it('a link in place of its folder in the temporary folder is refused', async () => {
  const folder = file('own');
  expect(await ownFolder(folder)).toBe(folder);
  expect(await ownFolder(folder)).toBe(folder);
  rmSync(folder, { recursive: true });
  mkdirSync(file('elsewhere'));
  symlinkSync('elsewhere', folder);
  await expect(ownFolder(folder)).rejects.toThrow('is a link, or belongs to another user; remove it');
});
