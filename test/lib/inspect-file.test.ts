import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { inspectFile, TextIndex, VectorIndex } from '../../lib/index.js';
import { rejection } from '../helpers/errors.js';
import { temporaryFolder } from '../helpers/folder.js';
import { clusteredVectors, testSeed } from '../helpers/random.js';

const folder = temporaryFolder();

async function savedIndex(name: string): Promise<string> {
  await using index = await VectorIndex.build(clusteredVectors(60, 70, 4, testSeed), 70, {
    m: 4,
    efConstruction: 30,
  });
  await index.save(folder(name), { fingerprint: '00000000000000aa' });
  return folder(name);
}

async function savedTexts(name: string): Promise<string> {
  await using index = await TextIndex.build(['one two', 'two three'], { tokenizer: 'enhanced' });
  await index.save(folder(name));
  return folder(name);
}

function changed(path: string, to: string, change: (bytes: Buffer) => Buffer | undefined): string {
  const bytes = readFileSync(path);
  writeFileSync(folder(to), change(bytes) ?? bytes);
  return folder(to);
}

test('an index says its shape, what it was made from, and that all of it is sound', async () => {
  const file = await inspectFile(await savedIndex('a.index'));
  expect(file).toMatchObject({
    kind: 'index',
    rows: 60,
    dimension: 70,
    vectorType: 'f32',
    m: 4,
    efConstruction: 30,
    fingerprint: '00000000000000aa',
    bytes: readFileSync(folder('a.index')).length,
  });
  expect(file.refusal).toBeUndefined();
  expect(file.version).toBeGreaterThan(0);
  expect(file.sections.map(({ name }) => name)).toEqual(expect.arrayContaining(['header', 'rows', 'codes']));
  expect(new Set(file.sections.map(({ checksum }) => checksum))).toEqual(new Set(['right']));
  const last = file.sections.at(-1);
  expect((last?.offset ?? 0) + (last?.bytes ?? 0)).toBe(file.bytes);
});

test('a text index says its tokenizer and counts', async () => {
  const file = await inspectFile(await savedTexts('a.bm25'));
  expect(file).toMatchObject({
    kind: 'text index',
    version: 2,
    tokenizer: 'enhanced',
    rows: 2,
    terms: 3,
    tokens: 4,
  });
  expect(file.fingerprint).toBeUndefined();
});

test('damage is named with its section, unless sections are not to be read', async () => {
  const path = await savedIndex('b.index');
  const rows = (await inspectFile(path)).sections.find(({ name }) => name === 'rows');
  const damaged = changed(path, 'damaged.index', (bytes) => {
    const at = (rows?.offset ?? 0) + 9;
    bytes[at] = (bytes[at] as number) ^ 1;
    return bytes;
  });
  const file = await inspectFile(damaged);
  expect(file.refusal).toMatch(/section 2 \(rows\): the checksum is wrong/);
  expect(file.sections.filter(({ checksum }) => checksum === 'wrong').map(({ id }) => id)).toEqual([2]);
  expect(file.rows).toBe(60);
  const quick = await inspectFile(damaged, { verify: false });
  expect(quick.refusal).toBeUndefined();
  expect(new Set(quick.sections.map(({ checksum }) => checksum))).toEqual(new Set(['unchecked']));
});

test('a file of another version, cut short, or of another kind is described as far as it goes', async () => {
  const path = await savedTexts('c.bm25');
  const old = changed(path, 'old.bm25', (bytes) => {
    bytes.writeUInt32LE(1, 8);
    return bytes;
  });
  expect(await inspectFile(old)).toMatchObject({ kind: 'text index', version: 1, sections: [] });
  const cut = changed(path, 'cut.bm25', (bytes) => bytes.subarray(0, bytes.length - 1));
  expect((await inspectFile(cut)).refusal).toMatch(/cut\.bm25: the file has \d+ bytes, its header says/);
  for (const content of ['', 'LK', '{"records_file": "a.json"}', Buffer.alloc(4096, 7)]) {
    writeFileSync(folder('other'), content);
    expect(await inspectFile(folder('other'))).toMatchObject({
      kind: 'unknown',
      refusal: expect.stringMatching(/neither/),
      sections: [],
    });
  }
});

test('an absent file and a folder are errors', async () => {
  await rejection(inspectFile(folder('absent')), 'NOT_FOUND');
  mkdirSync(folder('inner'));
  await rejection(inspectFile(folder('inner')), 'IO');
});
