import { writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { EmbeddingModel, Records, Storage, TextIndex, VectorIndex } from '../../lib/index.js';
import { EmbeddingRows } from '../../lib/internal.js';
import { rejection } from '../helpers/errors.js';
import { temporaryFolder } from '../helpers/folder.js';
import { tinyBert } from '../helpers/models.js';

const file = temporaryFolder();
const vectors = new Float32Array([1, 0, 0, 1, 0.8, 0.6]);

function write(name: string, content: unknown): string {
  const path = file(name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

const path = write('three.json', [
  { id: 'fox', text: 'The quick brown fox', metadata: { year: 2001 } },
  { id: 'keeper', text: 'A lighthouse keeper counts ships' },
  { id: 'dog', text: 'A dog and a fox', metadata: { year: 2010, other: 1 } },
]);

describe('records of a file', () => {
  test('become a storage that finds them by meaning, by words and by metadata', async () => {
    const records = await Records.read(path, { fields: [{ name: 'year', type: 'int', optional: true }] });
    expect([records.size, records.idOf(2)]).toEqual([3, 'dog']);
    const index = await VectorIndex.build(vectors, 2);
    const words = await TextIndex.fromRecords(records, { tokenizer: 'basic' });
    const storage = await Storage.fromRecords(records, index, words);
    await Promise.all([index.close(), words.close()]);
    expect(records.closed).toBe(true);
    await records.close();
    const vector = new Float32Array([1, 0]);
    const found = await storage.search({ mode: 'hybrid', vector, text: 'fox', topK: 3 });
    expect(found.hits.map(({ id }) => id)).toEqual(['fox', 'dog', 'keeper']);
    const filter = { '>': [{ knowledge: 'year' }, 2005] } as const;
    const { hits } = await storage.search({ vector, filter });
    expect(hits).toMatchObject([{ id: 'dog', text: 'A dog and a fox', metadata: { year: 2010 } }]);
    await storage.close();
  });

  test('are embedded as their texts would be, prefix and progress included', async () => {
    const model = await EmbeddingModel.load(await tinyBert());
    const records = await Records.read(path);
    const seen: number[] = [];
    const { dimension } = model;
    const rows = await EmbeddingRows.match(records, { dimension, key: 'tiny' });
    const embedded = await rows.embed(records, model, {
      prefix: 'the ',
      onProgress: (fraction) => seen.push(fraction),
    });
    expect(embedded).toEqual({ texts: 3, errors: [] });
    expect(seen.at(-1)).toBe(1);
    const index = await VectorIndex.fromEmbeddings(rows, { kind: 'flat' });
    const texts = ['The quick brown fox', 'A lighthouse keeper counts ships', 'A dog and a fox'];
    const expected = await model.embed(texts.map((text) => `the ${text}`));
    for (const ordinal of texts.keys()) {
      const query = expected.subarray(ordinal * dimension, (ordinal + 1) * dimension);
      const { ordinals, distances } = await index.search(query, { k: 1 });
      expect(ordinals).toEqual(Uint32Array.of(ordinal));
      expect(distances[0]).toBeCloseTo(0, 4);
    }
    await Promise.all([index.close(), records.close(), model.close()]);
  });

  test('are refused with file, line, record, field, what was expected and found, all of them at once', async () => {
    const wrong = write('wrong.json', '[\n{"id":"a"},\n{"id":"b","text":5}]');
    const error = await rejection(Records.read(wrong), 'INVALID_ARGUMENT');
    expect(error.message.split('\n')).toEqual([
      `${wrong}:2: record 0 ("a"): text: expected a string that is not blank, found nothing`,
      `${wrong}:3: record 1 ("b"): text: expected a string that is not blank, found 5`,
    ]);
    expect(error.detail).toEqual({
      file: wrong,
      line: 2,
      record: 0,
      id: 'a',
      field: 'text',
      expected: 'a string that is not blank',
      found: 'nothing',
      mistakes: 2,
      issues: error.message.split('\n').map((line) => line.slice(`${wrong}:`.length)),
    });
  });

  test('that are no JSON, or no file, are refused', async () => {
    await rejection(Records.read(write('cut.json', '[{"id": "a", "te')), 'CORRUPT');
    await rejection(Records.read(file('absent.json')), 'NOT_FOUND');
    await rejection(Records.read(file('.')), 'IO');
    await rejection(Records.read(path, { signal: AbortSignal.abort() }), 'CANCELLED');
  });

  test('do not fit indexes over another number of records', async () => {
    const records = await Records.read(path);
    const index = await VectorIndex.build(new Float32Array([1, 0]), 2);
    const words = await TextIndex.fromRecords(records, { tokenizer: 'basic' });
    await rejection(Storage.fromRecords(records, index, words), 'INVALID_ARGUMENT');
    await rejection(Storage.fromRecords(records, index, words), 'CLOSED');
    expect(() => records.idOf(0)).toThrow('after close()');
  });
});

describe('index files', () => {
  test('are refused when they were made from something else', async () => {
    const [vectorFile, wordFile] = [file('a.index'), file('a.bm25')];
    const records = await Records.read(path);
    const index = await VectorIndex.build(vectors, 2);
    const words = await TextIndex.fromRecords(records, { tokenizer: 'basic' });
    const { fingerprint } = records;
    await index.save(vectorFile, { fingerprint });
    await words.save(wordFile, { fingerprint });
    const other = '0123456789abcdef';
    expect((await VectorIndex.load(vectorFile, { dimension: 2, fingerprint })).size).toBe(3);
    const wrong = await rejection(
      VectorIndex.load(vectorFile, { dimension: 2, fingerprint: other }),
      'UNSUPPORTED',
    );
    expect(wrong.detail).toMatchObject({ mismatch: 'fingerprint' });
    await rejection(VectorIndex.load(vectorFile, { dimension: 3, fingerprint }), 'DIMENSION_MISMATCH');
    const expected = { tokenizer: 'basic', documents: 3, fingerprint } as const;
    expect((await TextIndex.load(wordFile, { expected })).size).toBe(3);
    for (const [mismatch, change] of Object.entries({
      fingerprint: { fingerprint: other },
      tokenizer: { tokenizer: 'enhanced' as const },
      documents: { documents: 4 },
    })) {
      const error = await rejection(
        TextIndex.load(wordFile, { expected: { ...expected, ...change } }),
        'UNSUPPORTED',
      );
      expect(error.detail).toMatchObject({ mismatch, file: wordFile, reason: expect.any(String) });
    }
  });
});
