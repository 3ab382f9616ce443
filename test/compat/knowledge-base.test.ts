import { copyFileSync, cpSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { EmbeddingModel } from '../../lib/index.js';
import { openKnowledgeBase } from '../../src/knowledge/index.js';
import { temporaryFolder } from '../helpers/folder.js';

/** Files as earlier versions wrote them; they are never made again. */
const frozen = join(import.meta.dirname, 'knowledge-base');
const file = temporaryFolder();
const sidecar = file('version-2.bm25');
let model: EmbeddingModel;

/** Puts the frozen files back, the records older than what was made from them. */
function restore(): void {
  cpSync(frozen, file(), { recursive: true });
  utimesSync(file('records.json'), 1_000_000, 1_000_000);
}

function configure(change: object): void {
  const config = JSON.parse(readFileSync(join(frozen, 'kb.json'), 'utf8'));
  writeFileSync(file('kb.json'), JSON.stringify({ ...config, ...change }));
}

/** Opens, searches, and tells why files were made anew. */
async function open() {
  const told: string[] = [];
  const log = {
    info: (facts: object) => told.push((facts as { reason: string }).reason),
    warn: (_: object, message: string) => told.push(message),
  };
  await using opened = await openKnowledgeBase(file('kb.json'), { models: async () => ({ model }), log });
  const { hits } = await opened.search({ mode: 'hybrid', text: 'do glaciers grind?', topK: 1 });
  expect(hits.map(({ id, metadata }) => [id, metadata])).toEqual([['ice', { year: 2010 }]]);
  return { told, ...opened.embeddings };
}

beforeAll(async () => {
  restore();
  model = await EmbeddingModel.load(file('tiny.gguf'));
});

test('files of these format versions are used as they are', async () => {
  restore();
  expect(await open()).toEqual({ told: [], embedded: 0, reused: 3, truncated: 0 });
});

describe('a text index file is made anew, once, with the reason', () => {
  const records = () => JSON.parse(readFileSync(join(frozen, 'records.json'), 'utf8'));
  const writeRecords = (content: object[]) => {
    writeFileSync(file('records.json'), JSON.stringify(content));
    utimesSync(file('records.json'), 1_000_000, 1_000_000);
  };
  const flip = (at: number) => {
    const bytes = readFileSync(sidecar);
    bytes[at] = (bytes[at] ?? 0) ^ 4;
    writeFileSync(sidecar, bytes);
  };
  const size = readFileSync(join(frozen, 'version-2.bm25')).length;
  test.each<[string, () => void, string]>([
    ['is older than the records', () => utimesSync(sidecar, 1, 1), 'the records file is newer'],
    ['is of format version 1', () => copyFileSync(file('version-1.bm25'), sidecar), 'format version 1'],
    [
      'is of another tokenizer',
      () => configure({ bm25_tokenizer: 'enhanced' }),
      'tokenizer basic, enhanced is expected',
    ],
    [
      'is of another number of records',
      () => writeRecords([...records(), { id: 'more', text: 'More flour' }]),
      'built from 3 documents, there are 4',
    ],
    [
      'is from another records file of as many records',
      () =>
        writeRecords(records().map((record: { text: string }) => ({ ...record, text: `${record.text}!` }))),
      'built from other documents',
    ],
    [
      'is cut short',
      () => writeFileSync(sidecar, readFileSync(sidecar).subarray(0, size - 1)),
      'its header says',
    ],
    ['is empty', () => writeFileSync(sidecar, ''), 'truncated: '],
    ['has a flipped bit in its header', () => flip(20), "the header's checksum is wrong"],
    ['has a flipped bit in its last byte', () => flip(size - 1), 'the checksum is wrong'],
  ])('when it %s', async (_, spoil, reason) => {
    restore();
    spoil();
    const { told } = await open();
    expect(
      told.filter((line) => line.includes(reason)),
      told.join('|'),
    ).toHaveLength(1);
    expect((await open()).told).toEqual([]);
  });

  test('but not over a file of another kind, which stays as it is', async () => {
    restore();
    copyFileSync(file('version-1.embeddings'), sidecar);
    await expect(open()).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringMatching(/kb\.json.*bm25_file.*version-2\.bm25/),
    });
    expect(readFileSync(sidecar)).toEqual(readFileSync(file('version-1.embeddings')));
  });
});
