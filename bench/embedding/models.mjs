// Models with random weights in the shapes of well-known embedders, and texts for them. What they compute means nothing,
// and takes as long as the real ones. Same seed, same bytes.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { GgufWriter } from '../../test/helpers/tiny-model/gguf-writer.mjs';
import { Random } from '../harness/numbers.mjs';

const context = 512;
const vocabularySize = 30_522;
const specialTokens = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]'];

/** Layers, width and pooling (1 mean, 2 cls) of the models; all have 12 heads and a feed-forward of 4 x width. */
export const shapes = {
  'all-MiniLM-L6': { layers: 6, width: 384, pooling: 1 },
  'bge-small': { layers: 12, width: 384, pooling: 2 },
};

/** Every word of the vocabulary: two to four syllables, all different. */
function vocabularyWords() {
  const random = new Random(1);
  const [heads, tails] = ['bcdfghjklmnprstvwz', 'aeiou'];
  const words = new Set();
  while (words.size < vocabularySize - specialTokens.length - 52) {
    let word = '';
    for (let left = 2 + random.integer(3); left > 0; left--)
      word += heads[random.integer(heads.length)] + tails[random.integer(tails.length)];
    words.add(word);
  }
  return [...words];
}

/** `count` texts of exactly `tokens` tokens each, [CLS] and [SEP] among them. */
export function textsOf(count, tokens, seed = 2) {
  const random = new Random(seed);
  const words = vocabularyWords();
  const text = () => Array.from({ length: tokens - 2 }, () => words[random.integer(words.length)]).join(' ');
  return Array.from({ length: count }, text);
}

/** Writes a model unless it is there; resolves to its path. `type`: F32, F16 or Q8_0. */
export async function modelFile(folder, shape, type) {
  const path = join(folder, `random-${shape}-${type}.gguf`);
  if (!existsSync(path)) await write(path, shapes[shape], type);
  return path;
}

async function write(path, { layers, width, pooling }, type) {
  const file = new GgufWriter();
  const random = new Random(3);
  const numbers = (count, scale, around = 0) =>
    Float32Array.from({ length: count }, () => around + scale * (2 * random.uniform() - 1));
  const matrix = (name, inputs, outputs) =>
    file.tensor(`${name}.weight`, [inputs, outputs], type, numbers(inputs * outputs, Math.sqrt(3 / inputs)));
  const vector = (name, length, around) => file.tensor(name, [length], 'F32', numbers(length, 0.1, around));
  const norm = (name) => {
    vector(`${name}.weight`, width, 1);
    vector(`${name}.bias`, width, 0);
  };
  describe(file, { layers, width, pooling });
  matrix('token_embd', width, vocabularySize);
  file.tensor('position_embd.weight', [width, context], 'F32', numbers(width * context, 0.3));
  file.tensor('token_types.weight', [width, 2], 'F32', numbers(width * 2, 0.3));
  norm('token_embd_norm');
  for (let layer = 0; layer < layers; layer++) {
    const block = `blk.${layer}`;
    for (const part of ['attn_q', 'attn_k', 'attn_v', 'attn_output']) {
      matrix(`${block}.${part}`, width, width);
      vector(`${block}.${part}.bias`, width, 0);
    }
    norm(`${block}.attn_output_norm`);
    matrix(`${block}.ffn_up`, width, 4 * width);
    vector(`${block}.ffn_up.bias`, 4 * width, 0);
    matrix(`${block}.ffn_down`, 4 * width, width);
    vector(`${block}.ffn_down.bias`, width, 0);
    norm(`${block}.layer_output_norm`);
  }
  await file.write(path);
}

function describe(file, { layers, width, pooling }) {
  const set = (type, values) => {
    for (const [key, value] of Object.entries(values)) file.set(key, { type, value });
  };
  const letters = [...'abcdefghijklmnopqrstuvwxyz'];
  const words = vocabularyWords().map((word) => `\u2581${word}`);
  const tokens = [...specialTokens, ...letters.map((letter) => `\u2581${letter}`), ...letters, ...words];
  set('string', {
    'general.architecture': 'bert',
    'general.name': 'random weights',
    'tokenizer.ggml.model': 'bert',
    'tokenizer.ggml.pre': 'jina-v2-en',
  });
  set('u32', {
    'bert.context_length': context,
    'bert.embedding_length': width,
    'bert.feed_forward_length': 4 * width,
    'bert.block_count': layers,
    'bert.attention.head_count': 12,
    'bert.pooling_type': pooling,
    'tokenizer.ggml.token_type_count': 2,
    'tokenizer.ggml.padding_token_id': 0,
    'tokenizer.ggml.unknown_token_id': 1,
    'tokenizer.ggml.bos_token_id': 2,
    'tokenizer.ggml.eos_token_id': 3,
    'tokenizer.ggml.seperator_token_id': 3,
    'tokenizer.ggml.mask_token_id': 4,
  });
  set('f32', { 'bert.attention.layer_norm_epsilon': 1e-12 });
  set('bool', { 'bert.attention.causal': false });
  set('string[]', { 'tokenizer.ggml.tokens': tokens });
  set('i32[]', { 'tokenizer.ggml.token_type': tokens.map((_, i) => (i < specialTokens.length ? 3 : 1)) });
}
