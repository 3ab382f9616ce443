// The language models of the trials: SmolLM2 from LOREKEEP_MODELS in several formats, and random weights in the shapes of well-known models,
// which take as long as the real ones. Prompts are token ids, so that every contestant computes the same tokens.
import { execFileSync } from 'node:child_process';
import { createCipheriv } from 'node:crypto';
import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { GgufWriter } from '../../test/helpers/tiny-model/gguf-writer.mjs';
import { findBuilt } from '../embedding/llama-server.mjs';
import { cached, root } from '../harness/cache.mjs';
import { Random } from '../harness/numbers.mjs';

const folder = resolve(process.env.LOREKEEP_MODELS ?? join(root, '..', 'shared', 'models'));

/** `end`: tokens that end a reply, which are excluded; prompts are drawn from the ordinary tokens from `first` to `last`. */
const smol = { end: Array.from({ length: 17 }, (_, id) => id), first: 300, last: 40_000 };
const file = 'SmolLM2-135M-Instruct.Q4_1.gguf';
/** The format of the file; llama-quantize makes the others of it. */
const ownFormat = 'Q4_1';
const real = new Map(
  ['Q8_0', ownFormat, 'Q4_0', 'Q4_K_M'].map((format) => [
    `SmolLM2-135M ${format}`,
    { ...smol, file, format },
  ]),
);

const shapes = {
  'Qwen2.5-0.5B': {
    architecture: 'qwen2',
    layers: 24,
    width: 896,
    heads: 14,
    kvHeads: 2,
    feedForward: 4864,
    vocabulary: 151_936,
    bias: true,
  },
  'Llama-3.2-1B': {
    architecture: 'llama',
    layers: 16,
    width: 2048,
    heads: 32,
    kvHeads: 8,
    feedForward: 8192,
    vocabulary: 128_256,
  },
  'SmolLM2-135M random': {
    architecture: 'llama',
    layers: 30,
    width: 576,
    heads: 9,
    kvHeads: 3,
    feedForward: 1536,
    vocabulary: 49_152,
  },
  'Llama-3.1-8B': {
    architecture: 'llama',
    layers: 32,
    width: 4096,
    heads: 32,
    kvHeads: 8,
    feedForward: 14_336,
    vocabulary: 128_256,
    untied: true,
  },
};

/** The models of the trials on a CPU. */
export const modelNames = [...real.keys(), 'Qwen2.5-0.5B', 'Llama-3.2-1B'];
export const shapeOf = (name) => shapes[name];

/** @returns {path, end, first, last}, or {reason} if the model cannot be had */
export async function languageModel(name) {
  mkdirSync(cached('models'), { recursive: true });
  if (real.has(name)) {
    const { file, format, ...facts } = real.get(name);
    const path = join(folder, file);
    if (!existsSync(path)) return { reason: 'its file is not in LOREKEEP_MODELS' };
    return format === ownFormat ? { path, ...facts } : quantised(path, format, facts);
  }
  const shape = shapes[name];
  if (!shape)
    return {
      reason: `there is no such model; there are ${[...real.keys(), ...Object.keys(shapes)].join(', ')}`,
    };
  const path = cached('models', `random-${name.replaceAll(' ', '-')}-Q4_0.gguf`);
  if (!existsSync(path)) await writeRandomModel(path, shape);
  return { path, end: [256], first: 300, last: shape.vocabulary - 1 };
}

function quantised(from, format, facts) {
  const path = cached('models', basename(from).replace(ownFormat, format));
  const program = findBuilt('quantize');
  if (!existsSync(path)) {
    if (!program) return { reason: '`npm run setup:llama-server` in bench/ builds llama-quantize' };
    execFileSync(program, ['--allow-requantize', from, `${path}.partial`, format, '2'], { stdio: 'ignore' });
    renameSync(`${path}.partial`, path);
  }
  return { path, ...facts };
}

const blocksAtATime = 1 << 18;

/** `count` token ids, the same for the same seed. */
export function promptTokens({ first, last }, count, seed) {
  const random = new Random(seed);
  return Array.from({ length: count }, () => first + random.integer(last - first));
}

/** Writes a model of random weights. The same shape gives the same bytes. */
export async function writeRandomModel(path, shape) {
  const { architecture, layers, width, heads, kvHeads, feedForward, vocabulary, bias, untied } = shape;
  const file = new GgufWriter();
  describe(file, shape);
  let seed = 0;
  const kv = (width / heads) * kvHeads;
  const matrix = (name, inputs, outputs, type = 'Q4_0') =>
    file.blocks(`${name}.weight`, [inputs, outputs], type, randomBlocks(inputs, outputs, type, seed++));
  const vector = (name, length, value) =>
    file.tensor(name, [length], 'F32', new Float32Array(length).fill(value));
  matrix('token_embd', width, vocabulary, 'Q8_0');
  if (untied) matrix('output', width, vocabulary, 'Q8_0');
  vector('output_norm.weight', width, 1);
  for (let layer = 0; layer < layers; layer++) {
    const block = `blk.${layer}`;
    vector(`${block}.attn_norm.weight`, width, 1);
    for (const [name, outputs] of [
      ['attn_q', width],
      ['attn_k', kv],
      ['attn_v', kv],
    ]) {
      matrix(`${block}.${name}`, width, outputs);
      if (bias) vector(`${block}.${name}.bias`, outputs, 0);
    }
    matrix(`${block}.attn_output`, width, width);
    vector(`${block}.ffn_norm.weight`, width, 1);
    matrix(`${block}.ffn_gate`, width, feedForward);
    matrix(`${block}.ffn_up`, width, feedForward);
    matrix(`${block}.ffn_down`, feedForward, width);
  }
  console.log(`${path}: writing random weights in the shape of ${architecture}`);
  await file.write(path);
}

/**
 * Random numbers of a variance that keeps activations in range: blocks of 32, a half-precision scale before each. They are
 * made while they are written: a large model does not fit into a buffer.
 */
function randomBlocks(inputs, outputs, type, seed) {
  const [block, deviation] = type === 'Q4_0' ? [18, 4.6] : [34, 74];
  const length = ((inputs * outputs) / 32) * block;
  const scale = halfOf(1 / (deviation * Math.sqrt(inputs)));
  return {
    length,
    *parts() {
      const key = Buffer.alloc(16);
      key.writeUInt32LE(seed);
      // Encrypted zeros: gigabytes of random bytes in seconds, the same for the same seed.
      const random = createCipheriv('aes-128-ctr', key, Buffer.alloc(16));
      const zeros = Buffer.alloc(blocksAtATime * block);
      for (let left = length; left > 0; left -= zeros.length) {
        const bytes = random.update(zeros.subarray(0, Math.min(left, zeros.length)));
        for (let at = 0; at < bytes.length; at += block) bytes.writeUInt16LE(scale, at);
        yield bytes;
      }
    },
  };
}

/** The bits of a half-precision number from 2^-14 to 1, cut. */
function halfOf(value) {
  const exponent = Math.floor(Math.log2(value));
  return ((exponent + 15) << 10) | Math.floor((value / 2 ** exponent - 1) * 1024);
}

function describe(file, { architecture, layers, width, heads, kvHeads, feedForward, vocabulary }) {
  const set = (type, values) => {
    for (const [key, value] of Object.entries(values)) file.set(key, { type, value });
  };
  const tokens = Array.from({ length: vocabulary }, (_, id) =>
    id < 256 ? byteCharacter(id) : id === 256 ? '<end>' : `t${id}`,
  );
  set('string', {
    'general.architecture': architecture,
    'general.name': 'random weights',
    'tokenizer.ggml.model': 'gpt2',
    'tokenizer.ggml.pre': 'qwen2',
  });
  set('u32', {
    [`${architecture}.context_length`]: 32_768,
    [`${architecture}.embedding_length`]: width,
    [`${architecture}.feed_forward_length`]: feedForward,
    [`${architecture}.block_count`]: layers,
    [`${architecture}.attention.head_count`]: heads,
    [`${architecture}.attention.head_count_kv`]: kvHeads,
    [`${architecture}.rope.dimension_count`]: width / heads,
    'tokenizer.ggml.bos_token_id': 256,
    'tokenizer.ggml.eos_token_id': 256,
  });
  set('f32', {
    [`${architecture}.attention.layer_norm_rms_epsilon`]: 1e-6,
    [`${architecture}.rope.freq_base`]: 1e6,
  });
  set('bool', { 'tokenizer.ggml.add_bos_token': false });
  set('string[]', { 'tokenizer.ggml.tokens': tokens, 'tokenizer.ggml.merges': ['a b'] });
  set('i32[]', { 'tokenizer.ggml.token_type': tokens.map((_, id) => (id === 256 ? 3 : 1)) });
}

/** The character that stands for a byte in a byte-level vocabulary. */
function byteCharacter(byte) {
  const shown = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
  if (shown) return String.fromCharCode(byte);
  const hidden = byte < 33 ? byte : byte < 161 ? byte - 127 + 33 : 67;
  return String.fromCharCode(256 + hidden);
}
