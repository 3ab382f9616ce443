import { readFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { EmbeddingModel, LorekeepError, Storage, TextIndex, VectorIndex } from '../../lib/index.js';
import { tinyBert } from '../helpers/models.js';

const vector = new Float32Array([1, 0]);

async function storage() {
  return Storage.build([{ id: 'a', text: 'one' }], vector, 2);
}

/** What is asked of a closed object, by name. */
const questions: Record<string, () => Promise<unknown>> = {
  'Storage.size': () => closed(storage(), (made) => made.size),
  'Storage.dimension': () => closed(storage(), (made) => made.dimension),
  'Storage.tokenizer': () => closed(storage(), (made) => made.tokenizer),
  'Storage.search()': () => closed(storage(), (made) => made.search({ vector })),
  'VectorIndex.kind': () => closed(VectorIndex.build(vector, 2), (made) => made.kind),
  'VectorIndex.search()': () => closed(VectorIndex.build(vector, 2), (made) => made.search(vector)),
  'TextIndex.terms': () => closed(TextIndex.build(['one']), (made) => made.terms),
  'TextIndex.tokenizerFit()': () => closed(TextIndex.build(['one']), (made) => made.tokenizerFit()),
  'EmbeddingModel.facts': async () => closed(EmbeddingModel.load(await tinyBert()), (made) => made.facts),
};

async function closed<T extends AsyncDisposable & { close(): Promise<void> }>(
  making: Promise<T>,
  ask: (made: T) => unknown,
) {
  const made = await making;
  await made.close();
  return ask(made);
}

test.each(Object.keys(questions))('%s of a closed object is an error of the library', async (name) => {
  const error = await questions[name]?.().catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(LorekeepError);
  expect(error).toMatchObject({ code: 'CLOSED', message: expect.stringContaining('used after close()') });
});

test.skipIf(process.platform !== 'linux')(
  'each close() resolves once mapped files are unmapped',
  async () => {
    const path = join(await mkdtemp(join(tmpdir(), 'lorekeep-closed-')), 'mapped.index');
    const rows = Float32Array.from({ length: 2_000 * 8 }, (_, i) => Math.sin(i * i));
    const built = await VectorIndex.build(rows, 8);
    await built.save(path);
    await built.close();
    for (let round = 0; round < 20; round++) {
      const index = await VectorIndex.load(path);
      expect(readFileSync('/proc/self/maps', 'utf8')).toContain(path);
      const searching = index.search(rows.subarray(0, 8), { k: 5 });
      const closings = [index.close(), index.close()];
      await closings[round % 2];
      expect(readFileSync('/proc/self/maps', 'utf8')).not.toContain(path);
      await Promise.all([searching, ...closings]);
    }
  },
);
