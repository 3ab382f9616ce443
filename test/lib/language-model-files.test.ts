import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { LanguageModel, LorekeepError } from '../../lib/index.js';
import { rejection } from '../helpers/errors.js';
import { temporaryFolder } from '../helpers/folder.js';
import { readGgufHeader } from '../helpers/gguf-reader.js';
import { type TestGguf, writeDecoderModel, writeMambaModel } from '../helpers/models.js';
import { testSeed } from '../helpers/random.js';
import { writeTinyDecoder } from '../helpers/tiny-model/tiny-decoder.mjs';

const folder = temporaryFolder();
const options = { threads: 1, batchThreads: 1, contextSize: 64 };

/** Loads a file that may be broken, and uses it if it loads. Returns the error's code. */
async function attempt(path: string): Promise<string> {
  try {
    const model = await LanguageModel.load(path, options);
    try {
      await model.generate({ prompt: Int32Array.of(3, 4, 5), maxTokens: 3, seed: 1 }).result;
    } finally {
      await model.close();
    }
    return 'loaded';
  } catch (error) {
    if (!(error instanceof LorekeepError)) throw error;
    expect(error.message.length).toBeLessThan(2000);
    return error.code;
  }
}

function never(): never {
  throw new Error('the model lacks a tensor');
}

const u32 = (key: string, value: number) => (file: TestGguf) => {
  file.set(key, { type: 'u32', value });
};

describe('a broken language model is an error', () => {
  test.each<[string, (file: TestGguf) => unknown]>([
    ['no attention heads', u32('qwen3.attention.head_count', 0)],
    ['heads that do not divide', u32('qwen3.attention.head_count_kv', 3)],
    ['a head of no size', u32('qwen3.attention.key_length', 0)],
    ['a huge head', u32('qwen3.attention.key_length', 1 << 30)],
    ['no rotated dimensions', u32('qwen3.rope.dimension_count', 0)],
    ['no layers', u32('qwen3.block_count', 0)],
    ['too many layers', u32('qwen3.block_count', 100_000)],
    ['no dimension', u32('qwen3.embedding_length', 0)],
    ['another dimension', u32('qwen3.embedding_length', 128)],
    ['experts that are not there', u32('qwen3.expert_count', 4)],
    ['an odd rotation', u32('qwen3.rope.dimension_count', 7)],
    ['a missing tensor', (file) => file.omitted.add('blk.1.attn_q.weight')],
    ['a missing embedding', (file) => file.omitted.add('token_embd.weight')],
    [
      'half an embedding',
      (file) =>
        file.replaced.set('token_embd.weight', { shape: [64, 10], type: 'F32', data: new Float32Array(640) }),
    ],
    [
      'a norm in another type',
      (file) =>
        file.replaced.set('output_norm.weight', { shape: [64], type: 'F16', data: new Float32Array(64) }),
    ],
    [
      'weights that are not numbers',
      (file) =>
        file.replaced.set('output_norm.weight', {
          shape: [64],
          type: 'F32',
          data: new Float32Array(64).fill(Number.NaN),
        }),
    ],
    ['one part of a split model', u32('split.count', 2)],
    [
      'another architecture',
      (file) => file.set('general.architecture', { type: 'string', value: 'nothing' }),
    ],
    ['no vocabulary', (file) => file.set('tokenizer.ggml.model', { type: 'string', value: 'none' })],
  ])('%s', async (name, edit) => {
    const path = await writeDecoderModel(`${name.replaceAll(' ', '-')}.gguf`, { pooling: null, edit });
    const error = await LanguageModel.load(path, options).catch((reason) => reason);
    expect(error).toBeInstanceOf(LorekeepError);
    expect(['MODEL_INVALID', 'UNSUPPORTED']).toContain(error.code);
    expect(error.message).toContain('.gguf');
  });

  const architecture = (value: string) => (file: TestGguf) =>
    file.set('general.architecture', { type: 'string', value });

  test.each([
    [
      'qwen9',
      "'qwen9' is not supported for generating text; supported are qwen, qwen2, qwen2moe, qwen3, qwen35, qwen3moe, qwen3next and ",
    ],
    ['nothing', "'nothing' is not supported for generating text; supported are "],
  ])('of the architecture %s, in a message that names similar ones and the page', async (name, text) => {
    const edit = architecture(name);
    const path = await writeDecoderModel(`${name}.gguf`, { pooling: null, edit });
    const { message } = await rejection(LanguageModel.load(path, options), 'UNSUPPORTED');
    expect(message).toContain(text);
    expect(message).toMatch(/\d\d others \(docs\/guides\/language-models\.md\)$/);
    expect(message.length - path.length).toBeLessThan(200);
  });

  test('whose damage the forced runtime finds, which is named without a runtime to try', async () => {
    const edit = (file: TestGguf) =>
      file.replaced.set('blk.0.ffn_up.weight', { shape: [64], type: 'F32', data: new Float32Array(64) });
    const path = await writeDecoderModel('damaged.gguf', { pooling: null, edit });
    const load = LanguageModel.load(path, { ...options, runtime: 'decoder' });
    const { message } = await rejection(load, 'UNSUPPORTED');
    expect(message).toMatch(
      /the tensor 'blk\.0\.ffn_up\.weight' has an unexpected shape; the file is damaged, or not of its/,
    );
    expect(message).not.toContain("'auto'");
  });

  test('a recurrent model without a state', async () => {
    const edit = u32('mamba.ssm.state_size', 0);
    await rejection(LanguageModel.load(await writeMambaModel('no-state.gguf', { edit })), 'MODEL_INVALID');
  });
});

test.each(['decoder', 'llama.cpp'] as const)(
  'a token whose weights are not numbers fails its request and no other, with %s',
  async (runtime) => {
    const path = folder(`poisoned-${runtime}.gguf`);
    await writeTinyDecoder('llama', path);
    const { tensors, data } = readGgufHeader(path);
    const { shape, offset } = tensors.find(({ name }) => name === 'token_embd.weight') ?? never();
    const [width] = shape as [number];
    const token = 100;
    new Float32Array(data.buffer, data.byteOffset + offset + 4 * token * width, width).fill(Number.NaN);
    writeFileSync(path, new Uint8Array(data.buffer));
    const model = await LanguageModel.load(path, { ...options, runtime });
    const request = { prompt: Int32Array.of(3, 4, 5), maxTokens: 8, seed: 1 };
    const { text } = await model.generate(request).result;
    for (const sampling of [{}, { temperature: 0 }]) {
      const poisoned = model.generate({ ...request, prompt: Int32Array.of(3, token), sampling });
      const { message } = await rejection(poisoned.result, 'MODEL_INVALID');
      expect(message).toContain('values that are not numbers');
    }
    expect((await model.generate(request).result).text).toBe(text);
    await model.close();
  },
);

test('truncated and mutated files end in an error or a model, never in a crash', async () => {
  const bytes = readFileSync(await writeDecoderModel('to-mutate.gguf', { pooling: null }));
  const path = folder('mutated.gguf');
  const codes = new Set<string>();
  let state = testSeed;
  const random = (below: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const header = 16 * 1024; // metadata and the table of tensors
  for (let round = 0; round < 150; round++) {
    const mutant = Buffer.from(bytes);
    const flips = 1 + random(4);
    for (let i = 0; i < flips; i++) mutant[random(header)] = random(256);
    writeFileSync(path, round % 10 === 0 ? mutant.subarray(0, random(mutant.length)) : mutant);
    codes.add(await attempt(path));
  }
  expect([...codes].sort()).toEqual(expect.arrayContaining(['MODEL_INVALID', 'loaded']));
  for (const code of codes)
    expect(['MODEL_INVALID', 'UNSUPPORTED', 'OUT_OF_MEMORY', 'loaded']).toContain(code);
});

describe('weights of each type of the vendored ggml', () => {
  /** ggml's numbers, with the elements and the bytes of a block (ggml-common.h). */
  const weights: [name: string, type: number, elements: number, bytes: number][] = [
    ['F32', 0, 1, 4],
    ['F16', 1, 1, 2],
    ['BF16', 30, 1, 2],
    ['Q4_0', 2, 32, 18],
    ['Q4_1', 3, 32, 20],
    ['Q5_0', 6, 32, 22],
    ['Q5_1', 7, 32, 24],
    ['Q8_0', 8, 32, 34],
    ['Q2_K', 10, 256, 84],
    ['Q3_K', 11, 256, 110],
    ['Q4_K', 12, 256, 144],
    ['Q5_K', 13, 256, 176],
    ['Q6_K', 14, 256, 210],
    ['IQ2_XXS', 16, 256, 66],
    ['IQ2_XS', 17, 256, 74],
    ['IQ3_XXS', 18, 256, 98],
    ['IQ1_S', 19, 256, 50],
    ['IQ4_NL', 20, 32, 18],
    ['IQ3_S', 21, 256, 110],
    ['IQ2_S', 22, 256, 82],
    ['IQ4_XS', 23, 256, 136],
    ['IQ1_M', 29, 256, 56],
    ['TQ1_0', 34, 256, 54],
    ['TQ2_0', 35, 256, 66],
    ['MXFP4', 39, 32, 17],
    ['NVFP4', 40, 64, 36],
    ['Q1_0', 41, 128, 18],
    ['Q2_0', 42, 64, 18],
  ];
  /** Types of intermediate results. */
  const others: typeof weights = [
    ['Q8_1', 9, 32, 36],
    ['Q8_K', 15, 256, 292],
    ['I8', 24, 1, 1],
    ['I16', 25, 1, 2],
    ['I32', 26, 1, 4],
    ['I64', 27, 1, 8],
    ['F64', 28, 1, 8],
  ];

  const modelWith = (name: string, type: number, elements: number, bytes: number) => {
    const edit = (file: TestGguf) => {
      file.omitted.add('blk.0.ffn_up.weight');
      const data = new Uint8Array(((256 * 128) / elements) * bytes).fill(1);
      file.blocks('blk.0.ffn_up.weight', [256, 128], type, data);
    };
    return writeDecoderModel(`${name}.gguf`, { pooling: null, dimension: 256, edit });
  };

  test('there are no other types', () => {
    const header = readFileSync(
      join(import.meta.dirname, '../../native/vendor/llama.cpp/ggml/include/ggml.h'),
      'utf8',
    );
    const body = /enum ggml_type \{([\s\S]*?)\};/.exec(header)?.[1] ?? '';
    const found = [...body.matchAll(/^\s*GGML_TYPE_(\w+)\s*= (\d+),/gm)]
      .filter(([, name]) => name !== 'COUNT')
      .map(([, name, number]) => `${name} ${number}`);
    const known = [...weights, ...others].map(([name, number]) => `${name} ${number}`);
    expect(known.sort()).toEqual(found.sort());
  });

  test.each(weights)('%s', async (...type) => {
    expect(await attempt(await modelWith(...type))).toBe('loaded');
  });

  test.each(others)('%s is refused', async (...type) => {
    const loading = LanguageModel.load(await modelWith(...type), options);
    const { message } = await rejection(loading, 'MODEL_INVALID');
    expect(message).toContain(`tensor 'blk.0.ffn_up.weight' is ${type[0]}, a type that no weights have`);
  });

  test('a type of a newer format is named, and the file is not said to be damaged only', async () => {
    const loading = LanguageModel.load(await modelWith('of a newer format', 77, 32, 17), options);
    const { message } = await rejection(loading, 'MODEL_INVALID');
    expect(message).toContain(
      "tensor 'blk.0.ffn_up.weight' has the unknown type 77; the file is damaged, or of a newer format",
    );
  });
});
