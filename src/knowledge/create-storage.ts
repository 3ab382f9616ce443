import {
  EmbeddingModel,
  type HnswOptions,
  LorekeepError,
  type ProgressOptions,
  Storage,
  type Tokenizer,
} from '../../lib/index.js';
import { SearchableStorage } from './knowledge-base.js';
import { type KnowledgeModel, textsError } from './model.js';
import { checkOptionNames, type OptionNames } from './option-names.js';

export interface CreateStorageOptions extends ProgressOptions, HnswOptions {
  /** One record each; ids are "0", "1" and so on. */
  strings: readonly string[];
  /** A model, or one with the prefixes that it wants. It stays the caller's. */
  model: EmbeddingModel | KnowledgeModel;
  /** Default "basic". */
  tokenizer?: Tokenizer | undefined;
}

const known: OptionNames<CreateStorageOptions> = {
  strings: true,
  model: true,
  tokenizer: true,
  kind: true,
  m: true,
  efConstruction: true,
  vectorType: true,
  seed: true,
  threads: true,
  signal: true,
  onProgress: true,
};

/**
 * Makes a storage of strings in memory: embeds every one and indexes it. Nothing is written to disk.
 * @throws LorekeepError: INVALID_ARGUMENT (no strings, an empty one, one that is no string; named by position), TEXT_TOO_LONG,
 * OUT_OF_MEMORY, CANCELLED.
 */
export async function createStorage(options: CreateStorageOptions): Promise<SearchableStorage> {
  checkOptionNames(options, known, 'createStorage');
  const { strings, model: given, signal, onProgress, ...index } = options;
  checkStrings(strings);
  const model = given instanceof EmbeddingModel ? { model: given } : given;
  if (!(model?.model instanceof EmbeddingModel)) {
    throw new LorekeepError('INVALID_ARGUMENT', 'model: an EmbeddingModel is expected', {
      argument: 'model',
    });
  }
  const { documentPrefix = '' } = model;
  const texts = documentPrefix === '' ? strings : strings.map((text) => documentPrefix + text);
  const { vectors, errors } = await model.model.embedSettled(texts, { signal, onProgress });
  if (errors.length > 0) throw textsError('strings', errors);
  const records = strings.map((text, position) => ({ id: String(position), text }));
  const storage = await Storage.build(records, vectors, model.model.dimension, { ...index, signal });
  return new SearchableStorage(storage, model, { embedded: strings.length, reused: 0, truncated: 0 });
}

function checkStrings(strings: readonly unknown[]): void {
  if (!Array.isArray(strings) || strings.length === 0) {
    throw new LorekeepError('INVALID_ARGUMENT', 'strings: an array of at least one string is expected', {
      argument: 'strings',
    });
  }
  const wrong = strings.findIndex((text) => typeof text !== 'string' || text.trim() === '');
  if (wrong < 0) return;
  const what = typeof strings[wrong] === 'string' ? 'the string is empty' : 'a string is expected';
  throw new LorekeepError('INVALID_ARGUMENT', `strings[${wrong}]: ${what}`, { index: wrong });
}
