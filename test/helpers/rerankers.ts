/** Small rerankers with random weights, one per way in which llama.cpp scores a pair. Same kind, same bytes. */
import {
  randomNumbers,
  type TestGguf,
  type TestModelOptions,
  writeBertModel,
  writeDecoderModel,
} from './models.js';

/** `two-layer`: the head of XLM-RoBERTa on a WordPiece BERT; `unigram`: the tokens of XLM-RoBERTa; `template`: Qwen3-Reranker. */
export const rerankerKinds = ['one-layer', 'two-layer', 'unigram', 'template'] as const;
export type RerankerKind = (typeof rerankerKinds)[number];

export const rerankTemplate =
  '<s>Is it about this?\nQuery: {query}\nDocument: {document}</s><s>\nThe answer is: ';

const dimension = 64;

const written = new Map<string, Promise<string>>();

/** The path of a reranker, written once in each process. */
export function tinyReranker(kind: RerankerKind, options: TestModelOptions = {}): Promise<string> {
  const { edit, ...plain } = options;
  const key = `rerank-${kind}-${JSON.stringify(plain)}`.replace(/[^A-Za-z0-9]+/g, '-');
  const path = edit === undefined ? written.get(key) : undefined;
  const made = path ?? write(kind, edit === undefined ? `${key}.gguf` : `${key}-edited.gguf`, options);
  if (edit === undefined) written.set(key, made);
  return made;
}

function write(kind: RerankerKind, name: string, { edit, ...options }: TestModelOptions): Promise<string> {
  const random = randomNumbers(77);
  const numbers = (count: number, scale: number) =>
    Float32Array.from({ length: count }, () => random() * scale);
  const head = (file: TestGguf, outputs: number) => {
    if (kind === 'two-layer' || kind === 'unigram') {
      file.tensor('cls.weight', [dimension, dimension], 'F32', numbers(dimension * dimension, 0.3));
      file.tensor('cls.bias', [dimension], 'F32', numbers(dimension, 0.1));
    }
    file.tensor('cls.output.weight', [dimension, outputs], 'F32', numbers(dimension * outputs, 0.5));
    if (kind !== 'template') file.tensor('cls.output.bias', [outputs], 'F32', numbers(outputs, 0.5));
  };
  const finish = (file: TestGguf, outputs: number) => {
    head(file, outputs);
    edit?.(file);
  };
  if (kind === 'template')
    return writeDecoderModel(name, {
      pooling: 4,
      ...options,
      edit(file) {
        file.set('qwen3.classifier.output_labels', { type: 'string[]', value: ['yes', 'no'] });
        file.set('tokenizer.chat_template.rerank', { type: 'string', value: rerankTemplate });
        file.set('tokenizer.ggml.add_eos_token', { type: 'bool', value: false });
        finish(file, 2);
      },
    });
  return writeBertModel(name, {
    pooling: kind === 'one-layer' ? null : 4,
    ...options,
    edit(file) {
      if (kind === 'unigram') setUnigram(file, numbers);
      finish(file, 1);
    },
  });
}

/** A SentencePiece unigram vocabulary of letters and some words, with the special tokens of XLM-RoBERTa. */
function setUnigram(file: TestGguf, numbers: (count: number, scale: number) => Float32Array): void {
  const letters = [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,;:!?-'];
  const words = 'the cat sat on mat dog runs fast blue sky tree house red king queen gold moon water'.split(
    ' ',
  );
  const pieces = [
    '<s>',
    '<pad>',
    '</s>',
    '<unk>',
    '\u2581',
    ...words.map((word) => `\u2581${word}`),
    ...letters,
  ];
  const set = (key: string, value: number) => file.set(`tokenizer.ggml.${key}`, { type: 'u32', value });
  const flag = (key: string, value: boolean) => file.set(`tokenizer.ggml.${key}`, { type: 'bool', value });
  file.set('tokenizer.ggml.model', { type: 'string', value: 't5' });
  file.set('tokenizer.ggml.tokens', { type: 'string[]', value: pieces });
  file.set('tokenizer.ggml.scores', {
    type: 'f32[]',
    value: pieces.map((piece, i) => (i < 4 ? 0 : piece.length > 2 ? -2 : -8)),
  });
  file.set('tokenizer.ggml.token_type', {
    type: 'i32[]',
    value: pieces.map((_, i) => (i === 3 ? 2 : i < 3 ? 3 : 1)),
  });
  for (const [key, value] of Object.entries({
    bos: 0,
    eos: 2,
    unknown: 3,
    seperator: 2,
    padding: 1,
    mask: 3,
  }))
    set(`${key}_token_id`, value);
  flag('add_bos_token', true);
  flag('add_eos_token', true);
  flag('add_sep_token', true);
  flag('add_space_prefix', true);
  file.replaced.set('token_embd.weight', {
    shape: [dimension, pieces.length],
    type: 'F32',
    data: numbers(dimension * pieces.length, 1),
  });
}

/** Queries and documents of the comparisons: of several lengths, in no order of merit. */
export const rerankPairs: readonly { query: string; documents: readonly string[] }[] = [
  {
    query: 'the cat sat on the mat',
    documents: [
      'the dog runs fast under the blue sky',
      'the cat sat on the mat',
      'gold and salt in the tower of the king',
      'the moon shines over the water. '.repeat(12),
      'A',
      '',
      'Kings and queens keep gold, salt and old songs in towers.',
      'one tree stands by the red house; the cat sat there.',
    ],
  },
  {
    query: 'How long does the moon shine over water?',
    documents: ['the moon', 'the red house', 'moon water moon'],
  },
  { query: 'x', documents: ['the blue sky'] },
];
