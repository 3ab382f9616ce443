import { readFileSync, writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { EmbeddingModel, LanguageModel, Reranker } from '../../lib/index.js';
import { contradictions } from '../../src/models/contradictions.js';
import { type CatalogEntry, catalogSchema } from '../../src/models/schema.js';
import { temporaryFolder } from '../helpers/folder.js';
import { tinyBert, tinyDecoder, writeBertModel, writeDecoderModel } from '../helpers/models.js';
import { tinyReranker } from '../helpers/rerankers.js';
import { splitModel } from '../helpers/split-model.js';

const inFolder = temporaryFolder();

type Type = CatalogEntry['model_type'];

const types: readonly Type[] = ['embedding', 'llm', 'reranker', 'vad', 'stt'];

/** How each kind of file is named; undefined: as nothing. */
const kinds = {
  'BERT that embeds': 'an embedding model',
  'decoder that embeds': 'an embedding model',
  'decoder that generates': 'a language model',
  'BERT that reranks': 'a reranker',
  'BERT that reranks without a pooling': 'a reranker',
  'decoder that reranks': 'a reranker',
  'voice activity model': 'a model for voice activity detection',
  'speech to text model': 'a model for speech to text',
  'other architecture': undefined,
  'truncated GGUF': undefined,
  'empty file': undefined,
  'page for people': undefined,
  'split GGUF with a swapped part': undefined,
} as const;
type Kind = keyof typeof kinds;

const made: Readonly<Record<string, Type>> = {
  'an embedding model': 'embedding',
  'a language model': 'llm',
  'a reranker': 'reranker',
  'a model for voice activity detection': 'vad',
  'a model for speech to text': 'stt',
};

const paths = {} as Record<Kind, string>;

function written(name: string, content: Buffer | string): string {
  const path = inFolder(name);
  writeFileSync(path, content);
  return path;
}

beforeAll(async () => {
  const bert = await tinyBert();
  const parts = splitModel(bert, inFolder('swapped'), 3);
  writeFileSync(parts[1] as string, readFileSync(parts[2] as string));
  const named = (name: string) => {
    const length = Buffer.alloc(4);
    length.writeInt32LE(name.length);
    return Buffer.concat([Buffer.from('lmgg'), length, Buffer.from(name), Buffer.alloc(64)]);
  };
  Object.assign(paths, {
    'BERT that embeds': bert,
    'decoder that embeds': await tinyDecoder(),
    'decoder that generates': await writeDecoderModel('generates.gguf', { pooling: null }),
    'BERT that reranks': await tinyReranker('two-layer'),
    'BERT that reranks without a pooling': await tinyReranker('one-layer'),
    'decoder that reranks': await tinyReranker('template'),
    'voice activity model': written('vad.bin', named('silero-16k')),
    'speech to text model': written('stt.bin', named('')),
    'other architecture': await writeBertModel('clip.gguf', {
      edit: (file) => file.set('general.architecture', { type: 'string', value: 'clip' }),
    }),
    'truncated GGUF': written('truncated.gguf', readFileSync(bert).subarray(0, 5000)),
    'empty file': written('empty.gguf', ''),
    'page for people': written('page.gguf', '<html><body>Log in</body></html>'),
    'split GGUF with a swapped part': parts[0] as string,
  } satisfies Record<Kind, string>);
});

function entryOf(fields: object, variant: object = {}): CatalogEntry {
  const model = { name: 'm', model_type: 'llm', variants: [{ file: 'm', ...variant }], ...fields };
  return catalogSchema.parse({ version: 1, models: [model] }).models[0] as CatalogEntry;
}

function compared(path: string, fields: object, variant: object = {}) {
  const entry = entryOf(fields, variant);
  return contradictions(path, entry, entry.variants[0] as CatalogEntry['variants'][number]);
}

/** Whether the loader of a type takes a file. */
async function loads(type: Type, path: string): Promise<boolean> {
  const options = { threads: 1, contextSize: 64 };
  const load = () => {
    if (type === 'embedding') return EmbeddingModel.load(path, options);
    return type === 'llm' ? LanguageModel.load(path, options) : Reranker.load(path, options);
  };
  const model = await load().catch(() => undefined);
  await model?.close();
  return model !== undefined;
}

describe.each(types)('a catalog entry of the type %s', (type) => {
  /** Loads of these are tested with files of their own: here their headers decide. */
  const isSpeech = type === 'vad' || type === 'stt';

  test.each(Object.keys(kinds) as Kind[])('names a file that is a %s, and whether it loads', async (kind) => {
    const path = paths[kind];
    const found = await compared(path, { model_type: type });
    const name = kinds[kind];
    const isOwn = name !== undefined && made[name] === type;
    const refused = isSpeech ? !isOwn : !(await loads(type, path));
    expect(found.some((one) => one.refused)).toBe(refused);
    if (isOwn) return expect(found).toEqual([]);
    if (name !== undefined) {
      const text = `model_type: the catalog says ${type}, the file is ${name}`;
      return expect(found[0]?.text).toBe(refused ? `${text}, so it is not loaded` : text);
    }
    expect(found).toHaveLength(1);
    expect(found[0]?.text).toMatch(/^file: ./);
    expect(found[0]?.text).not.toContain(path);
  });
});

describe('facts that the catalog and the file state', () => {
  test('a decoder that generates embeds with the pooling of the catalog', async () => {
    const path = paths['decoder that generates'];
    const fields = { model_type: 'embedding', pooling: 'last' };
    expect(await compared(path, fields)).toEqual([]);
    expect(await compared(path, { model_type: 'embedding' })).not.toEqual([]);
  });

  test('dimension, pooling, context, quantisation and licence are compared', async () => {
    const path = await writeBertModel('facts.gguf', {
      contextSize: 128,
      edit(file) {
        file.set('general.license', { type: 'string', value: 'apache-2.0' });
        file.set('general.file_type', { type: 'u32', value: 15 });
      },
    });
    const same = { model_type: 'embedding', dimension: 64, pooling: 'mean', license: 'Apache-2.0' };
    expect(await compared(path, same, { name: 'q4_k_m', context_size: 128 })).toEqual([]);
    expect(await compared(path, same, { name: 'my quantisation' })).toEqual([]);
    const other = { model_type: 'embedding', dimension: 32, pooling: 'cls', license: 'MIT' };
    expect(await compared(path, other, { name: 'Q8_0', context_size: 129 })).toEqual([
      { text: 'dimension: the catalog says 32, the file 64', refused: true },
      { text: 'pooling: the catalog says cls, the file mean', refused: false },
      { text: 'context_size: the catalog says 129, the file takes 128 at most', refused: false },
      { text: 'variant: the catalog says Q8_0, the file Q4_K_M', refused: false },
      { text: 'license: the catalog says MIT, the file apache-2.0', refused: false },
    ]);
  });

  test('a file that was replaced is read again', async () => {
    const path = written('replaced.gguf', readFileSync(paths['BERT that embeds']));
    expect(await compared(path, { model_type: 'embedding' })).toEqual([]);
    writeFileSync(path, readFileSync(paths['decoder that generates']));
    expect((await compared(path, { model_type: 'embedding' }))[0]?.text).toContain('a language model');
  });

  test('a text of the file is cut, however long it is', async () => {
    const path = await writeBertModel('long.gguf', {
      edit: (file) => file.set('general.license', { type: 'string', value: 'x'.repeat(100_000) }),
    });
    const [found] = await compared(path, { model_type: 'embedding', license: 'MIT' });
    expect(found?.text).toHaveLength('license: the catalog says MIT, the file '.length + 1024);
  });
});
