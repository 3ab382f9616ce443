import { GgufWriter } from './gguf-writer.mjs';
import { RandomProjection } from './random-projection.mjs';
import { buildVocabulary, specialTokens } from './wordpiece-vocabulary.mjs';

// Frequent words say little: weight = a / (a + frequency). Arora, Liang, Ma: A Simple but Tough-to-Beat Baseline for
// Sentence Embeddings (2017), section 3.
const frequencyScale = 1e-3;
// What parts of unknown words weigh beside a rare word.
const partWeights = { word: 1, prefix: 0.5, infix: 0.15, character: 0.03 };
// A word's vector is half its own direction and half its letter groups' directions, so that "index" and "indexes" are near.
const ownShare = Math.SQRT1_2;
const groupLengths = [3, 4, 5];
// LayerNorm divides by sqrt(variance + epsilon). With an epsilon this far above any variance here, and a weight of its
// root, it changes nothing, and words keep their weights through the network.
const epsilon = 1e4;
/**
 * Writes a small embedding model that llama.cpp runs: a BERT of one layer whose weights are zero, over vectors that
 * are frequency-weighted random projections of words. The cosine of two texts is the weighted overlap of their words
 * and parts of words. It knows no meanings; it is instant, needs no download and is the same everywhere, for
 * demonstrations, examples and tests. Same options, same bytes.
 */
export async function createTinyModel(options) {
  const dimension = checked('dimension', options.dimension ?? 256, 32, 1024);
  const contextSize = checked('contextSize', options.contextSize ?? 512, 8, 8192);
  if (dimension % 32 !== 0) throw new RangeError(`dimension: a multiple of 32 is expected, not ${dimension}`);
  const { pieces, words } = buildVocabulary(options.texts, options.vocabulary);
  const projection = new RandomProjection(dimension, options.seed ?? 1);
  const tokens = specialTokens.length + pieces.length;
  const vectors = new Float32Array(tokens * dimension);
  pieces.forEach((piece, i) => {
    const begin = (specialTokens.length + i) * dimension;
    writeVector(vectors.subarray(begin, begin + dimension), piece, words, projection);
  });
  // An unknown character is better than nothing: a text of nothing else must not have a zero vector.
  const unknown = specialTokens.indexOf('[UNK]') * dimension;
  const unknownPiece = { text: '[UNK]', start: true, kind: 'character', count: 1 };
  writeVector(vectors.subarray(unknown, unknown + dimension), unknownPiece, words, projection);
  const file = new GgufWriter();
  writeMetadata(file, dimension, contextSize);
  if (options.tokenizer === 'unigram') writeUnigram(file, pieces);
  else writeTokenizer(file, pieces);
  writeTensors(file, dimension, contextSize, vectors, options.weightType ?? 'F16');
  return { path: options.path, tokens, bytes: await file.write(options.path) };
}
function checked(name, value, low, high) {
  if (Number.isInteger(value) && value >= low && value <= high) return value;
  throw new RangeError(`${name}: an integer from ${low} to ${high} is expected, not ${value}`);
}
/** The piece's direction, of mean 0 (LayerNorm subtracts the mean) and as long as its weight. */
function writeVector(target, piece, words, projection) {
  projection.add(target, `${piece.kind}:${piece.text}`, ownShare);
  const groups = letterGroups(piece);
  for (const group of groups) projection.add(target, group, Math.sqrt((1 - ownShare ** 2) / groups.length));
  const mean = target.reduce((sum, value) => sum + value, 0) / target.length;
  const length = Math.sqrt(target.reduce((sum, value) => sum + (value - mean) ** 2, 0));
  const frequency = piece.kind === 'word' ? piece.count / words : 0;
  const weight = partWeights[piece.kind] * (frequencyScale / (frequencyScale + frequency));
  for (let i = 0; i < target.length; i++) target[i] = ((target[i] - mean) / length) * weight;
}
/** Groups of 3 to 5 letters of "<word>"; the marks tell beginnings and ends from the middle. */
function letterGroups({ text, start, kind }) {
  if (kind === 'character') return [];
  const marked = `${start ? '<' : ''}${text}${kind === 'word' ? '>' : ''}`;
  const groups = [];
  for (const length of groupLengths) {
    for (let begin = 0; begin + length <= marked.length; begin++)
      groups.push(marked.slice(begin, begin + length));
  }
  return groups;
}
function writeMetadata(file, dimension, contextSize) {
  file.set('general.architecture', { type: 'string', value: 'bert' });
  file.set('general.name', { type: 'string', value: 'lorekeep tiny model' });
  file.set('bert.context_length', { type: 'u32', value: contextSize });
  file.set('bert.embedding_length', { type: 'u32', value: dimension });
  file.set('bert.feed_forward_length', { type: 'u32', value: 32 });
  file.set('bert.block_count', { type: 'u32', value: 1 });
  file.set('bert.attention.head_count', { type: 'u32', value: 1 });
  file.set('bert.attention.layer_norm_epsilon', { type: 'f32', value: epsilon });
  file.set('bert.attention.causal', { type: 'bool', value: false });
  file.set('bert.pooling_type', { type: 'u32', value: 1 });
}
/** llama.cpp marks the pieces that start a word with U+2581 and leaves the others bare. */
function writeTokenizer(file, pieces) {
  const tokens = [...specialTokens, ...pieces.map(({ text, start }) => (start ? `\u2581${text}` : text))];
  const normal = 1;
  const control = 3;
  file.set('tokenizer.ggml.model', { type: 'string', value: 'bert' });
  file.set('tokenizer.ggml.token_type_count', { type: 'u32', value: 2 });
  file.set('tokenizer.ggml.tokens', { type: 'string[]', value: tokens });
  file.set('tokenizer.ggml.token_type', {
    type: 'i32[]',
    value: tokens.map((_, i) => (i < specialTokens.length ? control : normal)),
  });
  const ids = {
    padding: '[PAD]',
    unknown: '[UNK]',
    bos: '[CLS]',
    seperator: '[SEP]',
    mask: '[MASK]',
  };
  for (const [name, token] of Object.entries(ids)) {
    file.set(`tokenizer.ggml.${name}_token_id`, { type: 'u32', value: specialTokens.indexOf(token) });
  }
}
/** SentencePiece's unigram model, with the special tokens of XLM-RoBERTa; longer pieces are likelier. */
function writeUnigram(file, pieces) {
  const special = ['<s>', '<pad>', '</s>', '<unk>', '\u2581'];
  const tokens = [...special, ...pieces.map(({ text, start }) => (start ? `\u2581${text}` : text))];
  const [normal, unknown, control] = [1, 2, 3];
  file.set('tokenizer.ggml.model', { type: 'string', value: 't5' });
  file.set('tokenizer.ggml.token_type_count', { type: 'u32', value: 2 });
  file.set('tokenizer.ggml.tokens', { type: 'string[]', value: tokens });
  file.set('tokenizer.ggml.scores', {
    type: 'f32[]',
    value: tokens.map((text, i) => (i < special.length ? 0 : -10 + text.length / 10)),
  });
  file.set('tokenizer.ggml.token_type', {
    type: 'i32[]',
    value: tokens.map((_, i) => (i === 3 ? unknown : i < 3 ? control : normal)),
  });
  const ids = { bos: 0, eos: 2, unknown: 3, seperator: 2, padding: 1, mask: 3 };
  for (const [name, value] of Object.entries(ids))
    file.set(`tokenizer.ggml.${name}_token_id`, { type: 'u32', value });
  for (const name of ['add_bos_token', 'add_eos_token', 'add_sep_token', 'add_space_prefix'])
    file.set(`tokenizer.ggml.${name}`, { type: 'bool', value: true });
}
function writeTensors(file, d, contextSize, vectors, type) {
  const zeros = (...shape) => new Float32Array(shape.reduce((product, extent) => product * extent, 1));
  const norm = (name) => {
    file.tensor(`${name}.weight`, [d], 'F32', new Float32Array(d).fill(Math.sqrt(epsilon)));
    file.tensor(`${name}.bias`, [d], 'F32', zeros(d));
  };
  file.tensor('token_embd.weight', [d, vectors.length / d], type, vectors);
  file.tensor('position_embd.weight', [d, contextSize], 'F32', zeros(d, contextSize));
  norm('token_embd_norm');
  for (const name of ['attn_q', 'attn_k', 'attn_v', 'attn_output']) {
    file.tensor(`blk.0.${name}.weight`, [d, d], 'F16', zeros(d, d));
  }
  norm('blk.0.attn_output_norm');
  file.tensor('blk.0.ffn_up.weight', [d, 32], 'F16', zeros(d, 32));
  file.tensor('blk.0.ffn_down.weight', [32, d], 'F16', zeros(32, d));
  norm('blk.0.layer_output_norm');
}
