import { linkSync, renameSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { exact, fileIdAt, fileStamp, isUnchanged, lastingStamp, nameIdAt } from '../../lib/os/file-stamp.js';
import { temporaryFolder } from '../helpers/folder.js';

const file = temporaryFolder();
const factsOf = (path: string) => statSync(path, exact);

test('a stamp changes when a file of the same length and times takes the name, or is written and its time set back', () => {
  const path = file('a');
  writeFileSync(path, 'one');
  const time = new Date(1e12);
  utimesSync(path, time, time);
  const first = factsOf(path);
  expect(isUnchanged(factsOf(path), first)).toBe(true);
  const changes = [
    () => writeFileSync(path, 'two'),
    () => {
      writeFileSync(file('b'), 'six');
      renameSync(file('b'), path);
    },
  ];
  for (const change of changes) {
    const before = factsOf(path);
    // The clock of the file system may not have ticked yet.
    do {
      change();
      utimesSync(path, time, time);
    } while (fileStamp(factsOf(path)) === fileStamp(before));
    expect(factsOf(path).size).toBe(before.size);
    expect(factsOf(path).mtimeNs).toBe(before.mtimeNs);
    expect(isUnchanged(factsOf(path), before)).toBe(false);
    expect(lastingStamp(factsOf(path))).not.toBe(lastingStamp(before));
  }
});

test.skipIf(process.platform === 'win32')(
  'all names of a file have its id, and a link to it has one of its own',
  async () => {
    writeFileSync(file('named'), '');
    linkSync(file('named'), file('other-name'));
    symlinkSync('named', file('link'));
    const id = await fileIdAt(file('named'));
    expect(await fileIdAt(file('other-name'))).toBe(id);
    expect(await fileIdAt(file('link'))).toBe(id);
    expect(await nameIdAt(file('link'))).not.toBe(id);
    expect(await fileIdAt(file('absent'))).toBeUndefined();
  },
);
