import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { EmbeddingModel, TextIndex, VectorIndex } from '../../lib/index.js';
import { buildKnowledgeBase, checkKnowledgeBase, openKnowledgeBase } from '../../src/knowledge/index.js';
import { rejection } from '../helpers/errors.js';
import { temporaryFolder } from '../helpers/folder.js';
import { createTinyModel } from '../helpers/tiny-model/tiny-model.mjs';

const file = temporaryFolder();
const texts = ['Honey bees dance in the hive', 'Glaciers grind valleys', 'A starter is flour and water'];
let model: EmbeddingModel;

beforeAll(async () => {
  await createTinyModel({ texts, path: file('tiny.gguf'), dimension: 64 });
  model = await EmbeddingModel.load(file('tiny.gguf'));
});

const models = async () => ({ model });
const write = (path: string, content: unknown) =>
  writeFileSync(
    path,
    typeof content === 'string' || Buffer.isBuffer(content) ? content : JSON.stringify(content),
  );
let written = 0;

/** A folder with config `NAME.json` over `NAME-records.json` for each name. */
function folderOf(bases: Record<string, object>) {
  const folder = file(`folder${written++}`);
  mkdirSync(folder);
  for (const [name, config] of Object.entries(bases)) {
    const records = texts.map((text, position) => ({ id: `${name}${position}`, text: `${name} ${text}` }));
    write(`${folder}/${name}-records.json`, records);
    write(`${folder}/${name}.json`, {
      embedding_model: 'tiny',
      records_file: `${name}-records.json`,
      ...config,
    });
  }
  return (name: string) => `${folder}/${name}`;
}

async function open(path: string, readOnly = false) {
  await using base = await openKnowledgeBase(path, { models, readOnly });
  return (await base.search({ text: 'bees', mode: 'lexical' })).hits.map(({ id }) => id);
}

const snapshot = (place: (name: string) => string) =>
  readdirSync(place('.')).map((name) => [name, readFileSync(place(name), 'latin1')]);

describe('a file that a config names for writing', () => {
  const elsewhere: [string, object, (place: (name: string) => string) => void, string][] = [
    [
      'the config',
      { bm25_file: 'kb.json' },
      () => {},
      'bm25_file: "kb.json" is the same file as this config',
    ],
    [
      'the records',
      { embeddings_file: './kb-records.json' },
      () => {},
      'is the same file as records_file "kb-',
    ],
    [
      'the records by a hard link',
      { bm25_file: 'x' },
      (place) => linkSync(place('kb-records.json'), place('x')),
      'bm25_file: "x" is the same file as records_file "kb-records.json"',
    ],
    [
      'the records by a symbolic link',
      { embeddings_file: 'x' },
      (place) => symlinkSync('kb-records.json', place('x')),
      'embeddings_file: "x" is the same file as records_file "kb-records.json"',
    ],
    [
      'the records in a linked folder',
      { bm25_file: 'linked/kb-records.json' },
      (place) => symlinkSync('.', place('linked')),
      'is the same file as records_file "kb-records.json"',
    ],
    [
      'the index',
      { index_file: 'x.bm25' },
      () => {},
      'bm25_file: its default next to index_file is the same file as',
    ],
    [
      'each other',
      { bm25_file: 'a', embeddings_file: 'b/../a' },
      () => {},
      'embeddings_file: "b/../a" is the same',
    ],
    ['another file', { bm25_file: 'notes' }, (place) => write(place('notes'), 'a diary'), 'bm25_file: '],
    ['the model', { bm25_file: 'm' }, (place) => copyFileSync(file('tiny.gguf'), place('m')), 'LKBM25'],
    ['a link', { bm25_file: 'x' }, (place) => symlinkSync('nothing', place('x')), 'it is a symbolic link'],
    ['a folder', { embeddings_file: 'x' }, (place) => mkdirSync(place('x')), 'it is a folder'],
  ];

  test.each(elsewhere)(
    'and that is %s is refused by opening, building and checking',
    async (what, config, prepare, message) => {
      const place = folderOf({ kb: { index_file: 'kb.index', ...config } });
      prepare(place);
      const before =
        what === 'a link' || what === 'a folder' || what.includes('linked') ? undefined : snapshot(place);
      const refusals = [
        await rejection(openKnowledgeBase(place('kb.json'), { models }), 'INVALID_ARGUMENT'),
        await rejection(buildKnowledgeBase(place('kb.json'), { models }), 'INVALID_ARGUMENT'),
      ];
      for (const { message: said } of refusals) {
        expect(said).toContain(message);
        expect(said).toContain(place('kb.json'));
      }
      const { findings } = await checkKnowledgeBase(place('kb.json'), { models });
      expect(findings.map((finding) => finding.message)).toContainEqual(expect.stringContaining(message));
      expect(existsSync(place('kb.index'))).toBe(false);
      if (before !== undefined) expect(snapshot(place)).toEqual(before);
      if (what === 'a link') expect(readlinkSync(place('x'))).toBe('nothing');
    },
  );

  test('and that is an empty file is written', async () => {
    const place = folderOf({ kb: { bm25_file: 'x', embeddings_file: 'y' } });
    write(place('x'), '');
    write(place('y'), '');
    expect(await open(place('kb.json'))).toEqual(['kb0']);
    await (await TextIndex.load(place('x'))).close();
  });

  test('and that is a link to a file of its kind is written where the link leads, and the link stays', async () => {
    const place = folderOf({ kb: { bm25_file: 'x', index_file: 'i' } });
    for (const [name, target] of [
      ['x', 'real.bm25'],
      ['i', 'real.index'],
    ] as const) {
      write(place(target), '');
      symlinkSync(target, place(name));
    }
    await buildKnowledgeBase(place('kb.json'), { models });
    expect([readlinkSync(place('x')), readlinkSync(place('i'))]).toEqual(['real.bm25', 'real.index']);
    write(place('kb-records.json'), [{ id: 'new', text: 'bees' }]);
    const { written: files } = await buildKnowledgeBase(place('kb.json'), { models });
    expect(files).toEqual([place('real.index'), place('real.bm25')]);
    expect(await open(place('kb.json'))).toEqual(['new']);
    expect(readlinkSync(place('x'))).toBe('real.bm25');
  });

  test('and that another path names, but no other file, is no false alarm', async () => {
    const place = folderOf({ kb: { bm25_file: 'other/kb.json', embeddings_file: 'kb-records.json.' } });
    mkdirSync(place('elsewhere'));
    symlinkSync('elsewhere', place('other'));
    expect(await open(place('kb.json'))).toEqual(['kb0']);
    expect(readdirSync(place('elsewhere'))).toEqual(['kb.json']);
  });

  test('is made with its folders', async () => {
    const place = folderOf({ kb: { bm25_file: 'a/b/kb.bm25', index_file: 'kb.index' } });
    const { written: files } = await buildKnowledgeBase(place('kb.json'), { models });
    expect(files).toContain(place('a/b/kb.bm25'));
    const other = folderOf({ kb: { bm25_file: 'a/b/kb.bm25' } });
    expect(await open(other('kb.json'))).toEqual(['kb0']);
    expect(existsSync(other('a/b/kb.bm25'))).toBe(true);
  });
});

describe('files of two knowledge bases', () => {
  const shared = { bm25_file: 'shared.bm25', embeddings_file: 'shared.embeddings' };

  test.each([['bm25_file'], ['embeddings_file']] as const)('may not share a %s', async (field) => {
    const config = { [field]: shared[field] };
    const place = folderOf({ one: config, two: config });
    await open(place('one.json'));
    const before = readFileSync(place(shared[field]));
    const { message } = await rejection(openKnowledgeBase(place('two.json'), { models }), 'INVALID_ARGUMENT');
    const about = `${place('two.json')}: ${field}: ${JSON.stringify(shared[field])}`;
    expect(message).toContain(`${about}: it belongs to another knowledge base, so it is not overwritten`);
    expect(message).toContain('; that is one.json, seen from its folder; ');
    expect(readFileSync(place(shared[field]))).toEqual(before);
    expect(await open(place('one.json'))).toEqual(['one0']);
  });

  test('may not share an index', async () => {
    const config = (name: string) => ({ index_file: 'shared.index', bm25_file: `${name}.bm25` });
    const place = folderOf({ one: config('one'), two: config('two') });
    await buildKnowledgeBase(place('one.json'), { models });
    const before = snapshot(place);
    const { message } = await rejection(
      buildKnowledgeBase(place('two.json'), { models }),
      'INVALID_ARGUMENT',
    );
    expect(message).toContain('index_file: ');
    expect(message).toContain('one.json');
    expect(snapshot(place)).toEqual(before);
  });

  test('over the same records may share what is the same for both', async () => {
    const place = folderOf({ one: shared, two: shared });
    write(place('two.json'), JSON.parse(readFileSync(place('one.json'), 'utf8')));
    await open(place('one.json'));
    expect(await open(place('two.json'))).toEqual(['one0']);
    write(place('one-records.json'), [{ id: 'new', text: 'bees' }]);
    expect(await open(place('two.json'))).toEqual(['new']);
    expect(await open(place('one.json'))).toEqual(['new']);
  });

  test('go on belonging to a knowledge base with other records, under another name, and in another folder', async () => {
    const place = folderOf({ one: shared });
    await open(place('one.json'));
    write(place('one-records.json'), [{ id: 'new', text: 'bees' }]);
    expect(await open(place('one.json'))).toEqual(['new']);
    renameSync(place('one.json'), place('two.json'));
    renameSync(place('one-records.json'), place('two-records.json'));
    const { records_file: _, ...rest } = JSON.parse(readFileSync(place('two.json'), 'utf8'));
    write(place('two.json'), { ...rest, records_file: 'two-records.json' });
    write(place('two-records.json'), [{ id: 'newer', text: 'bees' }]);
    expect(await open(place('two.json'))).toEqual(['newer']);
    renameSync(dirname(place('x')), file('moved'));
    write(file('moved/two-records.json'), [{ id: 'newest', text: 'bees' }]);
    expect(await open(file('moved/two.json'))).toEqual(['newest']);
  });
});

describe('a damaged cache', () => {
  const build = (path: string) => buildKnowledgeBase(path, { models });
  const caches: [string, object, (path: string) => Promise<unknown>][] = [
    ['text index', { bm25_file: 'cache' }, open],
    ['embeddings file', { embeddings_file: 'cache' }, open],
    ['index', { index_file: 'cache' }, build],
  ];
  const flipped = (bytes: Buffer, at: number) => {
    bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
    return bytes;
  };
  const damages: [string, (bytes: Buffer) => Buffer][] = [
    ['a flipped first byte', (bytes) => flipped(bytes, 0)],
    ['a zeroed first page', (bytes) => bytes.fill(0, 0, Math.min(4096, bytes.length - 64))],
    ['a zeroed second half', (bytes) => bytes.fill(0, bytes.length >> 1)],
    ['zeros alone', (bytes) => bytes.fill(0)],
    ['a flipped last byte', (bytes) => flipped(bytes, bytes.length - 1)],
    ['a cut after five bytes', (bytes) => bytes.subarray(0, 5)],
    ['zeros of another length', () => Buffer.alloc(100_000)],
  ];

  const cases = caches.flatMap(([name, config, make]) =>
    damages.map((damage) => [name, config, ...damage, make] as const),
  );

  test.each(cases)('(%s, %o) with %s is made again', async (_name, config, _damage, damage, make) => {
    const place = folderOf({ kb: config });
    await make(place('kb.json'));
    const whole = readFileSync(place('cache'));
    write(place('cache'), damage(Buffer.from(whole)));
    await make(place('kb.json'));
    expect(await open(place('kb.json'))).toEqual(['kb0']);
    expect(readFileSync(place('cache'))).toEqual(whole);
  });

  test.each(caches)('(%s, %o) that is a file of another program stays', async (_name, config, make) => {
    const place = folderOf({ kb: config });
    await make(place('kb.json'));
    const whole = readFileSync(place('cache'));
    for (const content of [
      Buffer.from('dear diary'),
      Buffer.concat([Buffer.from('dear diary'), whole.subarray(-48)]),
      Buffer.concat([Buffer.alloc(100), Buffer.from('x')]),
      Buffer.concat([Buffer.from('x'), whole]),
    ]) {
      write(place('cache'), content);
      await rejection(make(place('kb.json')), 'INVALID_ARGUMENT');
      expect(readFileSync(place('cache'))).toEqual(content);
    }
  });
});

test('opening for reading alone writes nothing', async () => {
  const place = folderOf({ kb: { bm25_file: 'a/kb.bm25', embeddings_file: 'kb.embeddings' } });
  const before = snapshot(place);
  expect(await open(place('kb.json'), true)).toEqual(['kb0']);
  expect(snapshot(place)).toEqual(before);
  await open(place('kb.json'));
  expect(readdirSync(place('.'))).toContain('kb.embeddings');
});

test('save() refuses what is no file of its kind', async () => {
  const index = await VectorIndex.build(new Float32Array([1, 0]), 2);
  const words = await TextIndex.build(['bees']);
  write(file('diary'), 'dear diary');
  await rejection(index.save(file('diary')), 'INVALID_ARGUMENT');
  await rejection(words.save(file('diary')), 'INVALID_ARGUMENT');
  expect(readFileSync(file('diary'), 'utf8')).toBe('dear diary');
  await index.save(file('kb.index'));
  await rejection(words.save(file('kb.index')), 'INVALID_ARGUMENT');
  await index.save(file('kb.index'));
});
