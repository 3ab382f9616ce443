import { GgufWriter } from './gguf-writer.mjs';
import { mix } from './random-projection.mjs';

/**
 * Language models with random weights, a hundred kilobytes each: one per kind of attention, positions or memory. A name is
 * an architecture, or one with a variant. The same name gives the same bytes. tools/golden records what llama.cpp's own
 * program writes with them.
 */
export const tinyDecoders = [
  'llama',
  'qwen2',
  'qwen3',
  'gemma',
  'gemma2',
  'phi3',
  'mamba',
  'lfm2',
  'gemma3',
  'llama-factors',
  'llama-linear',
  'llama-yarn',
  'qwen2-tied',
];

/** The architecture of a model of tinyDecoders. */
export const architectureOf = (name) => name.split('-')[0];

const size = { embedding: 64, heads: 4, kvHeads: 2, head: 16, hidden: 96, layers: 2 };
const window = 16;

/** Letters, two-letter pieces and bytes, so that every text has tokens and every reply is ASCII. */
function vocabulary() {
  const tokens = ['<unk>', '<s>', '</s>'];
  const types = [2, 3, 3];
  for (let byte = 0; byte < 256; byte++) {
    tokens.push(`<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`);
    types.push(6);
  }
  const letters = [...'abcdefghijklmnopqrstuvwxyz'];
  const pieces = ['\u2581', ...letters, ...'.,!?'];
  for (const vowel of 'aeiou')
    for (const letter of letters) pieces.push(`\u2581${letter}${vowel}`, `${letter}${vowel}`);
  for (const piece of new Set(pieces)) {
    tokens.push(piece);
    types.push(1);
  }
  return {
    tokens,
    types,
    scores: tokens.map((token, index) => (types[index] === 1 ? token.length * 10 - index / 1000 : 0)),
  };
}

/** Numbers from -scale to scale, the same for the same seed. */
function noise(count, scale, seed) {
  const data = new Float32Array(count);
  let state = mix(seed);
  for (let i = 0; i < count; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    data[i] = (mix(state) / 2 ** 31 - 1) * scale;
  }
  return data;
}

const around = (center, data) => data.map((value) => center + value);

class Decoder {
  constructor(name, context) {
    this.name = name;
    this.architecture = architectureOf(name);
    this.context = context;
    this.file = new GgufWriter();
    this.seed = 11 + tinyDecoders.indexOf(name) * 1000;
  }

  number(key, value, type = 'u32') {
    this.file.set(`${this.architecture}.${key}`, { type, value });
  }

  weight(name, shape, scale) {
    const count = shape.reduce((product, extent) => product * extent, 1);
    this.file.tensor(name, shape, 'F32', noise(count, scale ?? 1.5 / Math.sqrt(shape[0]), this.seed++));
  }

  norm(name, length, center = 1) {
    this.file.tensor(name, [length], 'F32', around(center, noise(length, 0.2, this.seed++)));
  }

  outputNorm() {
    // The small output rows of Gemma would give flat logits.
    this.norm('output_norm.weight', size.embedding, this.architecture.startsWith('gemma') ? 30 : 1);
  }

  head(layers) {
    const { tokens, types, scores } = vocabulary();
    const { file } = this;
    file.set('general.architecture', { type: 'string', value: this.architecture });
    // llama.cpp expects other special tokens in a model that is named phi3.
    const name = this.architecture.replace('phi3', 'phi');
    file.set('general.name', { type: 'string', value: `tiny ${name}` });
    this.number('block_count', layers);
    this.number('context_length', this.context);
    this.number('embedding_length', size.embedding);
    this.number('attention.layer_norm_rms_epsilon', 1e-5, 'f32');
    file.set('tokenizer.ggml.model', { type: 'string', value: 'llama' });
    file.set('tokenizer.ggml.tokens', { type: 'string[]', value: tokens });
    file.set('tokenizer.ggml.scores', { type: 'f32[]', value: scores });
    file.set('tokenizer.ggml.token_type', { type: 'i32[]', value: types });
    file.set('tokenizer.ggml.bos_token_id', { type: 'u32', value: 1 });
    file.set('tokenizer.ggml.eos_token_id', { type: 'u32', value: 2 });
    file.set('tokenizer.ggml.unknown_token_id', { type: 'u32', value: 0 });
    this.tokens = tokens.length;
    const gemma = this.architecture.startsWith('gemma');
    // Gemma multiplies embeddings by 8 and uses them as output: large ones would repeat the last token for ever.
    const rows = noise(this.tokens * size.embedding, gemma ? 0.02 : 1, this.seed++);
    const output = gemma ? rows : noise(this.tokens * size.embedding, 1, this.seed++);
    // Control and byte tokens never win: their logits are 0.
    output.fill(0, 0, (types.lastIndexOf(6) + 1) * size.embedding);
    file.tensor('token_embd.weight', [size.embedding, this.tokens], 'F32', rows);
    if (!gemma && !this.name.endsWith('tied'))
      file.tensor('output.weight', [size.embedding, this.tokens], 'F32', output);
  }

  attentionKeys(kvHeads = size.kvHeads) {
    this.number('attention.head_count', size.heads);
    if (typeof kvHeads === 'number') this.number('attention.head_count_kv', kvHeads);
    else this.number('attention.head_count_kv', kvHeads, 'i32[]');
    this.number('attention.key_length', size.head);
    this.number('attention.value_length', size.head);
    this.number('feed_forward_length', size.hidden);
    this.number('rope.dimension_count', size.head);
    this.number('rope.freq_base', 10000, 'f32');
  }

  attention(block, { bias = false, norms = false } = {}) {
    const rows = { q: size.heads * size.head, k: size.kvHeads * size.head, v: size.kvHeads * size.head };
    for (const [name, extent] of Object.entries(rows)) {
      this.weight(`${block}.attn_${name}.weight`, [size.embedding, extent]);
      if (bias) this.weight(`${block}.attn_${name}.bias`, [extent], 0.2);
    }
    if (norms) for (const name of ['q', 'k']) this.norm(`${block}.attn_${name}_norm.weight`, size.head);
    this.weight(`${block}.attn_output.weight`, [rows.q, size.embedding]);
  }

  feedForward(block) {
    this.norm(`${block}.ffn_norm.weight`, size.embedding);
    this.weight(`${block}.ffn_gate.weight`, [size.embedding, size.hidden]);
    this.weight(`${block}.ffn_up.weight`, [size.embedding, size.hidden]);
    this.weight(`${block}.ffn_down.weight`, [size.hidden, size.embedding]);
  }

  blocks(layers, write) {
    for (let layer = 0; layer < layers; layer++) {
      const block = `blk.${layer}`;
      this.norm(`${block}.attn_norm.weight`, size.embedding);
      write(block, layer);
    }
  }
}

const scaled = (model, type, factor) => {
  model.file.set(`${model.architecture}.rope.scaling.type`, { type: 'string', value: type });
  model.number('rope.scaling.factor', factor, 'f32');
};

/** Positions that depend on more than the base. */
const positions = {
  // As in Llama 3.1 and later: slow angles become slower.
  'llama-factors': (model) => {
    const factors = Float32Array.from({ length: size.head / 2 }, (_, i) => 1 + i * i * 0.5);
    model.file.tensor('rope_freqs.weight', [factors.length], 'F32', factors);
  },
  'llama-linear': (model) => scaled(model, 'linear', 4),
  'llama-yarn': (model) => {
    scaled(model, 'yarn', 4);
    model.number('rope.scaling.original_context_length', 64);
  },
};

const writers = {
  plain(model) {
    const { architecture } = model;
    model.head(size.layers);
    model.attentionKeys();
    positions[model.name]?.(model);
    model.outputNorm();
    const special = { bias: architecture === 'qwen2', norms: architecture === 'qwen3' };
    model.blocks(size.layers, (block) => {
      model.attention(block, special);
      model.feedForward(block);
    });
  },
  gemma3(model) {
    const layers = 7; // the sixth sees all tokens
    model.head(layers);
    model.attentionKeys();
    model.number('rope.freq_base', 1e6, 'f32');
    model.number('rope.scaling.factor', 4, 'f32');
    model.file.set('gemma3.rope.scaling.type', { type: 'string', value: 'linear' });
    model.number('attention.sliding_window', window);
    model.outputNorm();
    model.blocks(layers, (block) => {
      model.attention(block, { norms: true });
      model.norm(`${block}.post_attention_norm.weight`, size.embedding);
      model.feedForward(block);
      model.norm(`${block}.post_ffw_norm.weight`, size.embedding);
    });
  },
  gemma2(model) {
    model.head(4);
    model.attentionKeys();
    model.number('attention.sliding_window', window);
    model.number('attn_logit_softcapping', 50, 'f32');
    model.number('final_logit_softcapping', 30, 'f32');
    model.outputNorm();
    model.blocks(4, (block) => {
      model.attention(block);
      model.norm(`${block}.post_attention_norm.weight`, size.embedding);
      model.feedForward(block);
      model.norm(`${block}.post_ffw_norm.weight`, size.embedding);
    });
  },
  phi3(model) {
    model.head(size.layers);
    model.attentionKeys();
    model.outputNorm();
    model.blocks(size.layers, (block) => {
      model.weight(`${block}.attn_qkv.weight`, [size.embedding, (size.heads + 2 * size.kvHeads) * size.head]);
      model.weight(`${block}.attn_output.weight`, [size.embedding, size.embedding]);
      model.norm(`${block}.ffn_norm.weight`, size.embedding);
      model.weight(`${block}.ffn_up.weight`, [size.embedding, 2 * size.hidden]);
      model.weight(`${block}.ffn_down.weight`, [size.hidden, size.embedding]);
    });
  },
  mamba(model) {
    const [inner, state, rank, kernel] = [2 * size.embedding, 8, 4, 4];
    model.head(size.layers);
    model.number('attention.head_count', 0);
    model.number('feed_forward_length', 0);
    model.number('ssm.conv_kernel', kernel);
    model.number('ssm.inner_size', inner);
    model.number('ssm.state_size', state);
    model.number('ssm.time_step_rank', rank);
    model.outputNorm();
    model.blocks(size.layers, (block) => {
      model.weight(`${block}.ssm_in.weight`, [size.embedding, 2 * inner]);
      model.weight(`${block}.ssm_conv1d.weight`, [kernel, inner]);
      model.weight(`${block}.ssm_conv1d.bias`, [inner], 0.1);
      model.weight(`${block}.ssm_x.weight`, [inner, rank + 2 * state]);
      model.weight(`${block}.ssm_dt.weight`, [rank, inner]);
      model.weight(`${block}.ssm_dt.bias`, [inner], 0.5);
      const decay = around(-1.2, noise(state * inner, 0.8, model.seed++));
      model.file.tensor(`${block}.ssm_a`, [state, inner], 'F32', decay);
      model.norm(`${block}.ssm_d`, inner);
      model.weight(`${block}.ssm_out.weight`, [inner, size.embedding]);
    });
  },
  lfm2(model) {
    const kvHeads = [0, size.kvHeads, 0];
    model.head(kvHeads.length);
    model.attentionKeys(kvHeads);
    model.number('shortconv.l_cache', 3);
    model.norm('token_embd_norm.weight', size.embedding);
    model.blocks(kvHeads.length, (block, layer) => {
      if (kvHeads[layer] > 0) {
        model.attention(block, { norms: true });
      } else {
        model.weight(`${block}.shortconv.conv.weight`, [3, size.embedding]);
        model.weight(`${block}.shortconv.in_proj.weight`, [size.embedding, 3 * size.embedding]);
        model.weight(`${block}.shortconv.out_proj.weight`, [size.embedding, size.embedding]);
      }
      model.feedForward(block);
    });
  },
};

/** Writes a model of tinyDecoders to `path`. `context`: its context length in tokens; `template`: of its chats. */
export async function writeTinyDecoder(name, path, { context = 256, template } = {}) {
  const model = new Decoder(name, context);
  if (template !== undefined) model.file.set('tokenizer.chat_template', { type: 'string', value: template });
  (writers[name] ?? writers.plain)(model);
  await model.file.write(path);
}
