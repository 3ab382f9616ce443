/**
 * Small models with random, non-zero weights and several layers, so that mistakes in attention and packing show. Made
 * by the writer of the tiny model: same options, same bytes. No test needs a download.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GgufWriter, type TensorType } from './tiny-model/gguf-writer.mjs';
import { mix } from './tiny-model/random-projection.mjs';
import { buildVocabulary, specialTokens } from './tiny-model/wordpiece-vocabulary.mjs';

/** The folder of this process's models; removed when it exits. */
const modelFolder: string = mkdtempSync(join(tmpdir(), 'lorekeep-models-'));
process.once('exit', () => rmSync(modelFolder, { recursive: true, force: true }));

export interface TestModelOptions {
  dimension?: number;
  heads?: number;
  kvHeads?: number;
  layers?: number;
  feedForward?: number;
  contextSize?: number;
  weightType?: TensorType;
  seed?: number;
  /** `<architecture>.pooling_type`: 1 mean, 2 cls, 3 last; null leaves the key out. */
  pooling?: number | null;
  /** Last changes before the file is written, to make broken files. */
  edit?: (file: TestGguf) => void;
}

const sampleTexts = [
  'The cat sat on the mat. A dog runs fast under the blue sky; one tree stands by the red house.',
  'Kings and queens keep gold, salt and old songs in towers. How long does the moon shine over water?',
  'Straße, café, naïve: letters with marks. 東京 is a city. Привет мир. 0 1 2 3 4 5 6 7 8 9 10 100',
];

/** A GGUF writer that can leave out or replace tensors that are added later. */
export class TestGguf extends GgufWriter {
  readonly omitted = new Set<string>();
  readonly replaced = new Map<string, { shape: number[]; type: TensorType; data: Float32Array }>();
  private readonly pending: [string, readonly number[], TensorType, Float32Array][] = [];

  override tensor(name: string, shape: readonly number[], type: TensorType, data: Float32Array): this {
    this.pending.push([name, shape, type, data]);
    return this;
  }
  override *parts(): Iterable<Uint8Array> {
    for (const [name, shape, type, data] of this.pending.splice(0)) {
      const other = this.replaced.get(name);
      if (this.omitted.has(name)) continue;
      if (other) super.tensor(name, other.shape, other.type, other.data);
      else super.tensor(name, shape, type, data);
    }
    yield* super.parts();
  }
}

/** Uniform numbers in [-1, 1), the same for the same seed. */
export function randomNumbers(seed: number): () => number {
  let state = mix(seed);
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    return mix(state) / 2 ** 31 - 1;
  };
}

const shapes = { dimension: 64, heads: 4, layers: 3, feedForward: 128, contextSize: 512, seed: 1 };
type Shape = typeof shapes & TestModelOptions & { kvHeads: number; weightType: TensorType };

function shapeOf(options: TestModelOptions): Shape {
  const heads = options.heads ?? shapes.heads;
  return { ...shapes, weightType: 'F32', ...options, heads, kvHeads: options.kvHeads ?? heads };
}

class Weights {
  private readonly random: () => number;

  constructor(
    readonly file: TestGguf,
    private readonly shape: Shape,
  ) {
    this.random = randomNumbers(shape.seed);
  }

  /** Uniform, scaled so that a layer's input and output have the same variance. */
  matrix(name: string, inputs: number, outputs: number, scale = Math.sqrt(3 / inputs)): void {
    const data = Float32Array.from({ length: inputs * outputs }, () => this.random() * scale);
    this.file.tensor(`${name}.weight`, [inputs, outputs], this.shape.weightType, data);
  }
  plain(name: string, inputs: number, outputs: number, scale: number): void {
    const data = Float32Array.from({ length: inputs * outputs }, () => this.random() * scale);
    this.file.tensor(`${name}.weight`, [inputs, outputs], 'F32', data);
  }
  vector(name: string, length: number, around: number): void {
    this.file.tensor(
      name,
      [length],
      'F32',
      Float32Array.from({ length }, () => around + 0.1 * this.random()),
    );
  }
  norm(name: string, length: number): void {
    this.vector(`${name}.weight`, length, 1);
    this.vector(`${name}.bias`, length, 0);
  }
}

async function finish(file: TestGguf, name: string, options: TestModelOptions): Promise<string> {
  options.edit?.(file);
  const path = join(modelFolder, name);
  await file.write(path);
  return path;
}

function setShape(file: TestGguf, architecture: string, shape: Shape, pooling: number | null): void {
  const u32 = (key: string, value: number) => file.set(`${architecture}.${key}`, { type: 'u32', value });
  file.set('general.architecture', { type: 'string', value: architecture });
  file.set('general.name', { type: 'string', value: `test ${architecture}` });
  u32('context_length', shape.contextSize);
  u32('embedding_length', shape.dimension);
  u32('feed_forward_length', shape.feedForward);
  u32('block_count', shape.layers);
  u32('attention.head_count', shape.heads);
  u32('attention.head_count_kv', shape.kvHeads);
  if (pooling !== null) u32('pooling_type', pooling);
}

/** Writes a BERT with random weights and a WordPiece vocabulary; returns its path. Mean pooling unless told. */
export async function writeBertModel(name: string, options: TestModelOptions = {}): Promise<string> {
  const shape = shapeOf(options);
  const { dimension: d, feedForward, contextSize } = shape;
  const file = new TestGguf();
  setShape(file, 'bert', shape, options.pooling === undefined ? 1 : options.pooling);
  file.set('bert.attention.layer_norm_epsilon', { type: 'f32', value: 1e-12 });
  file.set('bert.attention.causal', { type: 'bool', value: false });
  const tokens = setWordPiece(file);
  const weights = new Weights(file, shape);
  weights.matrix('token_embd', d, tokens, 1);
  weights.plain('position_embd', d, contextSize, 0.3);
  weights.plain('token_types', d, 2, 0.3);
  weights.norm('token_embd_norm', d);
  for (let layer = 0; layer < shape.layers; layer++) {
    const block = `blk.${layer}`;
    for (const part of ['attn_q', 'attn_k', 'attn_v', 'attn_output']) {
      weights.matrix(`${block}.${part}`, d, d, 3 * Math.sqrt(1 / d));
      weights.vector(`${block}.${part}.bias`, d, 0);
    }
    weights.norm(`${block}.attn_output_norm`, d);
    weights.matrix(`${block}.ffn_up`, d, feedForward);
    weights.vector(`${block}.ffn_up.bias`, feedForward, 0);
    weights.matrix(`${block}.ffn_down`, feedForward, d);
    weights.vector(`${block}.ffn_down.bias`, d, 0);
    weights.norm(`${block}.layer_output_norm`, d);
  }
  return finish(file, name, options);
}

const made = new Map<string, Promise<string>>();

function once(kind: string, options: TestModelOptions, write: typeof writeBertModel): Promise<string> {
  const key = `${kind}-${JSON.stringify(options).replace(/[^A-Za-z0-9]+/g, '-')}`;
  const path = made.get(key) ?? write(`${key}.gguf`, options);
  made.set(key, path);
  return path;
}

/** The path of a BERT with random weights, written once in each process: 64 dimensions, 3 layers, F32 unless told. */
export const tinyBert = (options: Omit<TestModelOptions, 'edit'> = {}): Promise<string> =>
  once('bert', options, writeBertModel);

/** The path of a decoder with random weights and last-token pooling, written once in each process. */
export const tinyDecoder = (options: Omit<TestModelOptions, 'edit'> = {}): Promise<string> =>
  once('decoder', options, writeDecoderModel);

/** A WordPiece vocabulary of the sample texts; returns its size. */
function setWordPiece(file: TestGguf): number {
  const { pieces } = buildVocabulary(sampleTexts, { words: 200, prefixes: 50, infixes: 50 });
  const tokens = [...specialTokens, ...pieces.map(({ text, start }) => (start ? `\u2581${text}` : text))];
  file.set('tokenizer.ggml.model', { type: 'string', value: 'bert' });
  file.set('tokenizer.ggml.token_type_count', { type: 'u32', value: 2 });
  file.set('tokenizer.ggml.tokens', { type: 'string[]', value: tokens });
  file.set('tokenizer.ggml.token_type', {
    type: 'i32[]',
    value: tokens.map((_, i) => (i < specialTokens.length ? 3 : 1)),
  });
  const ids = { padding: 0, unknown: 1, bos: 2, seperator: 3, mask: 4 };
  for (const [key, value] of Object.entries(ids))
    file.set(`tokenizer.ggml.${key}_token_id`, { type: 'u32', value });
  return tokens.length;
}

/**
 * Writes a decoder in the layout of Qwen3-Embedding (last-token pooling, EOS at the end); returns its path.
 * `pooling: null` makes what every text-generation model is: a decoder that says nothing about embeddings.
 */
export async function writeDecoderModel(name: string, options: TestModelOptions = {}): Promise<string> {
  const shape = shapeOf({ kvHeads: 2, ...options });
  const { dimension: d, feedForward, heads, kvHeads } = shape;
  const headSize = d / heads;
  const file = new TestGguf();
  setShape(file, 'qwen3', shape, options.pooling === undefined ? 3 : options.pooling);
  file.set('qwen3.attention.layer_norm_rms_epsilon', { type: 'f32', value: 1e-6 });
  file.set('qwen3.attention.key_length', { type: 'u32', value: headSize });
  file.set('qwen3.attention.value_length', { type: 'u32', value: headSize });
  file.set('qwen3.rope.freq_base', { type: 'f32', value: 10_000 });
  const tokens = setSentencePiece(file);
  const weights = new Weights(file, shape);
  weights.matrix('token_embd', d, tokens, 1);
  weights.vector('output_norm.weight', d, 1);
  for (let layer = 0; layer < shape.layers; layer++) {
    const block = `blk.${layer}`;
    weights.vector(`${block}.attn_norm.weight`, d, 1);
    weights.matrix(`${block}.attn_q`, d, d);
    weights.matrix(`${block}.attn_k`, d, headSize * kvHeads);
    weights.matrix(`${block}.attn_v`, d, headSize * kvHeads);
    weights.matrix(`${block}.attn_output`, d, d);
    weights.vector(`${block}.attn_q_norm.weight`, headSize, 1);
    weights.vector(`${block}.attn_k_norm.weight`, headSize, 1);
    weights.vector(`${block}.ffn_norm.weight`, d, 1);
    weights.matrix(`${block}.ffn_gate`, d, feedForward);
    weights.matrix(`${block}.ffn_up`, d, feedForward);
    weights.matrix(`${block}.ffn_down`, feedForward, d);
  }
  return finish(file, name, options);
}

/**
 * Writes a decoder in the layout of Gemma 2, whose even layers see a sliding window of 32 tokens; returns its path.
 */
export async function writeSlidingWindowModel(name: string, options: TestModelOptions = {}): Promise<string> {
  const shape = shapeOf({ kvHeads: 2, ...options });
  const { dimension: d, feedForward, heads, kvHeads } = shape;
  const headSize = d / heads;
  const file = new TestGguf();
  setShape(file, 'gemma2', shape, null);
  file.set('gemma2.attention.layer_norm_rms_epsilon', { type: 'f32', value: 1e-6 });
  file.set('gemma2.attention.key_length', { type: 'u32', value: headSize });
  file.set('gemma2.attention.value_length', { type: 'u32', value: headSize });
  file.set('gemma2.attention.sliding_window', { type: 'u32', value: 32 });
  file.set('gemma2.attn_logit_softcapping', { type: 'f32', value: 50 });
  file.set('gemma2.final_logit_softcapping', { type: 'f32', value: 30 });
  const tokens = setSentencePiece(file);
  const weights = new Weights(file, shape);
  weights.matrix('token_embd', d, tokens, 1);
  weights.vector('output_norm.weight', d, 1);
  for (let layer = 0; layer < shape.layers; layer++) {
    const block = `blk.${layer}`;
    for (const norm of ['attn_norm', 'post_attention_norm', 'ffn_norm', 'post_ffw_norm'])
      weights.vector(`${block}.${norm}.weight`, d, 1);
    weights.matrix(`${block}.attn_q`, d, d);
    weights.matrix(`${block}.attn_k`, d, headSize * kvHeads);
    weights.matrix(`${block}.attn_v`, d, headSize * kvHeads);
    weights.matrix(`${block}.attn_output`, d, d);
    weights.matrix(`${block}.ffn_gate`, d, feedForward);
    weights.matrix(`${block}.ffn_up`, d, feedForward);
    weights.matrix(`${block}.ffn_down`, feedForward, d);
  }
  options.edit?.(file);
  return finish(file, name, {});
}

/** Writes a Mamba, which has a state instead of a cache; returns its path. */
export async function writeMambaModel(name: string, options: TestModelOptions = {}): Promise<string> {
  const shape = shapeOf(options);
  const { dimension: d } = shape;
  const [inner, state, rank, kernel] = [2 * d, 8, 4, 4];
  const file = new TestGguf();
  const u32 = (key: string, value: number) => file.set(`mamba.${key}`, { type: 'u32', value });
  file.set('general.architecture', { type: 'string', value: 'mamba' });
  file.set('general.name', { type: 'string', value: 'test mamba' });
  const sizes = { context_length: shape.contextSize, embedding_length: d, block_count: shape.layers };
  for (const [key, value] of Object.entries(sizes)) u32(key, value);
  u32('feed_forward_length', 0);
  u32('attention.head_count', 0);
  const ssm = { conv_kernel: kernel, inner_size: inner, state_size: state, time_step_rank: rank };
  for (const [key, value] of Object.entries(ssm)) u32(`ssm.${key}`, value);
  file.set('mamba.attention.layer_norm_rms_epsilon', { type: 'f32', value: 1e-6 });
  const tokens = setSentencePiece(file);
  const weights = new Weights(file, shape);
  weights.matrix('token_embd', d, tokens, 1);
  weights.vector('output_norm.weight', d, 1);
  for (let layer = 0; layer < shape.layers; layer++) {
    const block = `blk.${layer}`;
    weights.vector(`${block}.attn_norm.weight`, d, 1);
    weights.matrix(`${block}.ssm_in`, d, 2 * inner);
    weights.plain(`${block}.ssm_conv1d`, kernel, inner, 0.5);
    weights.vector(`${block}.ssm_conv1d.bias`, inner, 0);
    weights.matrix(`${block}.ssm_x`, inner, rank + 2 * state);
    weights.matrix(`${block}.ssm_dt`, rank, inner);
    weights.vector(`${block}.ssm_dt.bias`, inner, 0);
    const decay = Float32Array.from({ length: state * inner }, (_, i) => -1 - (i % state));
    file.tensor(`${block}.ssm_a`, [state, inner], 'F32', decay);
    weights.vector(`${block}.ssm_d`, inner, 1);
    weights.matrix(`${block}.ssm_out`, inner, d);
  }
  options.edit?.(file);
  return finish(file, name, {});
}

/** A SentencePiece vocabulary with every byte, so that any text has tokens; returns its size. */
function setSentencePiece(file: TestGguf): number {
  const bytes = Array.from(
    { length: 256 },
    (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`,
  );
  const { pieces } = buildVocabulary(sampleTexts, { words: 100, prefixes: 0, infixes: 50 });
  const known = pieces.map(({ text, start }) => (start ? `\u2581${text}` : text));
  const tokens = ['<unk>', '<s>', '</s>', ...bytes, '\u2581', ...known];
  const types = tokens.map((_, i) => (i === 0 ? 2 : i < 3 ? 3 : i < 259 ? 6 : 1));
  file.set('tokenizer.ggml.model', { type: 'string', value: 'llama' });
  file.set('tokenizer.ggml.tokens', { type: 'string[]', value: tokens });
  file.set('tokenizer.ggml.scores', {
    type: 'f32[]',
    value: tokens.map((token, i) => token.length - i / tokens.length),
  });
  file.set('tokenizer.ggml.token_type', { type: 'i32[]', value: types });
  file.set('tokenizer.ggml.bos_token_id', { type: 'u32', value: 1 });
  file.set('tokenizer.ggml.eos_token_id', { type: 'u32', value: 2 });
  file.set('tokenizer.ggml.unknown_token_id', { type: 'u32', value: 0 });
  file.set('tokenizer.ggml.add_bos_token', { type: 'bool', value: false });
  file.set('tokenizer.ggml.add_eos_token', { type: 'bool', value: true });
  return tokens.length;
}
