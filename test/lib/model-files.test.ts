import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { EmbeddingModel, LorekeepError } from '../../lib/index.js';
import { rejection } from '../helpers/errors.js';
import { temporaryFolder } from '../helpers/folder.js';
import {
  randomNumbers,
  type TestGguf,
  tinyBert,
  tinyDecoder,
  writeBertModel,
  writeDecoderModel,
} from '../helpers/models.js';
import { repetitions } from '../helpers/repetitions.js';

const folder = temporaryFolder();
const changes = repetitions('MODEL_CHANGES', 48, 400);
let files = 0;

/** Writes the bytes of a good model after `damage` has changed them; returns the path. */
async function damaged(damage: (bytes: Buffer) => Buffer | undefined): Promise<string> {
  const bytes = readFileSync(await tinyBert());
  const path = folder(`damaged-${files++}.gguf`);
  writeFileSync(path, damage(bytes) ?? bytes);
  return path;
}

/** A BERT file whose writer is changed before it writes. */
const edited = (edit: (file: TestGguf) => void): Promise<string> =>
  writeBertModel(`edited-${files++}.gguf`, { edit });

/** The process lives: a good model still loads and embeds. */
async function expectAlive(): Promise<void> {
  await using model = await EmbeddingModel.load(await tinyBert());
  await expect(model.embed('cat')).resolves.toHaveLength(64);
}

describe('files that are no models', () => {
  test('an absent file is NOT_FOUND and named', async () => {
    const error = await rejection(EmbeddingModel.load(folder('absent.gguf')), 'NOT_FOUND');
    expect(error.message).toContain('absent.gguf');
  });

  test('a folder is refused', async () => {
    mkdirSync(folder('folder.gguf'));
    const error = await rejection(EmbeddingModel.load(folder('folder.gguf')), 'IO');
    expect(error.message).toContain('folder.gguf');
  });

  test.each([
    ['an empty file', '', /empty/],
    ['four letters', 'GGUF', /truncated/],
    ['a text file', 'Once upon a time there was no model.', /not a GGUF file/],
    ['a zip file', 'PK\u0003\u0004zipped', /not a GGUF file/],
  ])('%s is MODEL_INVALID', async (_, content, message) => {
    const path = folder(`not-a-model-${files++}.gguf`);
    writeFileSync(path, content);
    const error = await rejection(EmbeddingModel.load(path), 'MODEL_INVALID');
    expect(error.message).toMatch(message);
    expect(error.message).toContain(path);
  });
});

describe('damaged files', () => {
  test.each([1, 10, 100, 1000, 10_000, 100_000])(
    'a file that lacks its last %i bytes says so',
    async (missing) => {
      // The writer pads the last tensor, so a cut of a few bytes may lose nothing; the last tensor has 256 bytes.
      const path = await damaged((bytes) => bytes.subarray(0, bytes.length - missing));
      const error = await rejection(EmbeddingModel.load(path), 'MODEL_INVALID');
      expect(error.message).toMatch(/truncated/);
    },
  );

  test.each([
    ['another magic', 0, 'GGUG', /not a GGUF file/],
    ['version 1', 4, '\x01\0\0\0', /version 1/],
    ['version 77', 4, '\x4d\0\0\0', /version 77/],
    ['the other byte order', 4, '\0\0\0\x03', /big-endian/],
    ['2^32 tensors', 8, '\0\0\0\0\x01\0\0\0', /tensors/],
    ['2^63 tensors', 8, '\0\0\0\0\0\0\0\x80', /tensors/],
    ['2^56 keys', 16, '\0\0\0\0\0\0\0\x01', /keys/],
    ['a key of 2^60 bytes', 24, '\0\0\0\0\0\0\0\x10', /truncated/],
  ])('%s', async (_, offset, bytes, message) => {
    const path = await damaged((file) => {
      file.write(bytes, offset, 'latin1');
      return file;
    });
    expect((await rejection(EmbeddingModel.load(path), 'MODEL_INVALID')).message).toMatch(message);
  });

  test('random changes are errors or models, and the process lives', async () => {
    const random = randomNumbers(11);
    const below = (limit: number) => Math.floor(((random() + 1) / 2) * limit);
    const sources = [readFileSync(await tinyBert()), readFileSync(await tinyDecoder())];
    const path = folder('fuzzed.gguf');
    let refused = 0;
    for (let round = 0; round < changes; round++) {
      const bytes = Buffer.from(sources[round % 2] as Buffer);
      for (let change = 0; change <= below(3); change++) {
        const at = below(16_000);
        if (below(2) === 0) bytes[at] = below(256);
        else bytes.writeUInt32LE(below(64), at);
      }
      writeFileSync(path, bytes);
      try {
        await using model = await EmbeddingModel.load(path, { threads: 1 });
        await model.embedSettled(['the cat', '東京']);
      } catch (error) {
        expect(error).toBeInstanceOf(LorekeepError);
        expect(['MODEL_INVALID', 'UNSUPPORTED', 'OUT_OF_MEMORY']).toContain((error as LorekeepError).code);
        refused++;
      }
    }
    expect(refused).toBeGreaterThan(changes / 8);
    await expectAlive();
  });
});

describe('contradictory models', () => {
  const u32 = (key: string, value: number) => (file: TestGguf) => file.set(key, { type: 'u32', value });
  const zeros = (...shape: number[]) => ({
    shape,
    type: 'F32' as const,
    data: new Float32Array(shape.reduce((product, extent) => product * extent, 1)),
  });

  test.each([
    ['no dimensions', u32('bert.embedding_length', 0), /embedding_length/],
    ['heads that do not divide the dimension', u32('bert.attention.head_count', 7), /heads/],
    ['no heads', u32('bert.attention.head_count', 0), /head_count/],
    ['a million layers', u32('bert.block_count', 1_000_000), /block_count/],
    ['more layers than tensors', u32('bert.block_count', 4), /blk\.3/],
    ['another dimension than its tensors', u32('bert.embedding_length', 128), /shape/],
    ['another context than its positions', u32('bert.context_length', 1024), /position_embd/],
    ['experts without expert tensors', u32('bert.expert_count', 8), /expert_count/],
    [
      'a missing tensor',
      (file: TestGguf) => file.omitted.add('blk.1.ffn_up.weight'),
      /blk\.1\.ffn_up\.weight/,
    ],
    [
      'a tensor of another shape',
      (file: TestGguf) => file.replaced.set('blk.1.ffn_up.weight', zeros(64, 64)),
      /shape/,
    ],
    [
      'a norm that is not F32',
      (file: TestGguf) => file.replaced.set('blk.0.attn_output_norm.weight', { ...zeros(64), type: 'F16' }),
      /F32/,
    ],
    [
      'weights that are no numbers',
      (file: TestGguf) => {
        const data = new Float32Array(64 * 64).fill(Number.NaN);
        file.replaced.set('blk.0.attn_v.weight', { shape: [64, 64], type: 'F32', data });
      },
      /not numbers/,
    ],
    [
      'no vocabulary',
      (file: TestGguf) => file.set('tokenizer.ggml.tokens', { type: 'string[]', value: [] }),
      /vocabulary/,
    ],
    [
      'a token twice',
      (file: TestGguf) => {
        const value = Array.from({ length: 300 }, (_, i) => (i === 299 ? 'token 3' : `token ${i}`));
        file.set('tokenizer.ggml.tokens', { type: 'string[]', value });
      },
      /twice/,
    ],
    [
      'fewer tokens than vectors',
      (file: TestGguf) => {
        file.set('tokenizer.ggml.tokens', {
          type: 'string[]',
          value: Array.from({ length: 120 }, (_, i) => `token ${i}`),
        });
      },
      /token/,
    ],
    [
      'a pooling type as text',
      (file: TestGguf) => file.set('bert.pooling_type', { type: 'string', value: 'mean' }),
      /pooling_type/,
    ],
    [
      'a dimension as text',
      (file: TestGguf) => file.set('bert.embedding_length', { type: 'string', value: '64' }),
      /embedding_length/,
    ],
  ] as [string, (file: TestGguf) => unknown, RegExp][])('%s', async (_, edit, message) => {
    const error = await rejection(EmbeddingModel.load(await edited(edit)), 'MODEL_INVALID');
    expect(error.message).toMatch(message);
    await expectAlive();
  });

  test('special tokens outside the vocabulary', async () => {
    const path = await edited((file) => {
      const value = Array.from({ length: 90 }, (_, i) => `token ${i}`);
      file.set('tokenizer.ggml.tokens', { type: 'string[]', value });
      file.set('tokenizer.ggml.token_type', { type: 'i32[]', value: value.map(() => 1) });
      file.set('tokenizer.ggml.bos_token_id', { type: 'u32', value: 5000 });
      file.replaced.set('token_embd.weight', zeros(64, 90));
    });
    expect((await rejection(EmbeddingModel.load(path), 'MODEL_INVALID')).message).toMatch(/CLS/);
  });
});

describe('models that are not for embedding', () => {
  test('a text-generation model is refused with the way out, which works', async () => {
    const path = await writeDecoderModel('generation.gguf', { pooling: null });
    const error = await rejection(EmbeddingModel.load(path), 'MODEL_INVALID');
    expect(error.message).toMatch(/text-generation model.*pooling/);
    await using model = await EmbeddingModel.load(path, { pooling: 'last' });
    expect(model.facts.pooling).toBe('last');
    await expect(model.embed('cat')).resolves.toHaveLength(64);
  });

  test.each([
    ['an architecture of another kind', 'general.architecture', 'mamba', /'mamba'.*bert/],
    ['an unknown tokenizer', 'tokenizer.ggml.model', 'rwkv', /'rwkv'/],
  ])('%s is UNSUPPORTED', async (_, key, value, message) => {
    const path = await edited((file) => file.set(key, { type: 'string', value }));
    expect((await rejection(EmbeddingModel.load(path), 'UNSUPPORTED')).message).toMatch(message);
  });

  test('a reranker is UNSUPPORTED, and a file that is a part of no split model is invalid', async () => {
    await rejection(EmbeddingModel.load(await tinyBert({ pooling: 4 })), 'UNSUPPORTED');
    const part = await edited((file) => file.set('split.count', { type: 'u32', value: 2 }));
    await rejection(EmbeddingModel.load(part), 'MODEL_INVALID');
  });
});

describe('loading', () => {
  test('reports progress that never falls and ends at 1', async () => {
    const seen: number[] = [];
    await using _model = await EmbeddingModel.load(await tinyBert(), {
      onProgress: (fraction) => seen.push(fraction),
    });
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
    expect(seen.at(-1)).toBe(1);
  });

  test('can be aborted before and while it runs', async () => {
    const path = await tinyBert({ dimension: 512, heads: 8, layers: 8, feedForward: 2048 });
    await rejection(EmbeddingModel.load(path, { signal: AbortSignal.abort() }), 'CANCELLED');
    const controller = new AbortController();
    const pending = EmbeddingModel.load(path, { signal: controller.signal });
    controller.abort();
    await rejection(pending, 'CANCELLED');
    await expectAlive();
  });

  test('many models at once', async () => {
    const models = await Promise.all(
      Array.from({ length: 8 }, async () => EmbeddingModel.load(await tinyBert())),
    );
    const vectors = await Promise.all(models.map((model) => model.embed('the cat')));
    for (const vector of vectors) expect(vector).toEqual(vectors[0]);
    await Promise.all(models.map((model) => model.close()));
  });
});
