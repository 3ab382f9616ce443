import {
  EmbeddingModel,
  type HnswOptions,
  type ItemError,
  LorekeepError,
  type ProgressOptions,
  Storage,
  type Tokenizer,
} from '../../lib/index.js';
import { listed } from '../schema/messages.js';
import { type KnowledgeModel, withModel } from './model.js';
import { checkOptionNames, type OptionNames } from './option-names.js';
import { SearchableStorage } from './searchable.js';

export interface CreateStorageOptions extends ProgressOptions, HnswOptions {
  /** One record each; ids are "0", "1" and so on. */
  strings: readonly string[];
  /** A model, or one with the prefixes that it wants. It stays the caller's. */
  model: EmbeddingModel | KnowledgeModel;
  /** Default "enhanced". */
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
export async function createStorage(
  options: CreateStorageOptions,
  /** @internal Waited for before each piece of the work; the result is called after it. */
  turn?: () => Promise<() => void>,
): Promise<SearchableStorage> {
  checkOptionNames(options, known, 'createStorage');
  const { strings, model: given, signal, onProgress, ...index } = options;
  checkStrings(strings);
  const model = given instanceof EmbeddingModel ? { model: given } : given;
  if (!(model?.model instanceof EmbeddingModel)) {
    throw LorekeepError.about('INVALID_ARGUMENT', {
      field: 'model',
      reason: 'an EmbeddingModel is expected',
    });
  }
  const { documentPrefix = '' } = model;
  const texts = documentPrefix === '' ? strings : strings.map((text) => documentPrefix + text);
  return withModel(model, async (native) => {
    const embed = turn === undefined ? native.embedSettled.bind(native) : inPieces(native, turn);
    const { vectors, errors } = await embed(texts, { signal, onProgress });
    if (errors.length > 0) throw stringsError(errors);
    const records = strings.map((text, position) => ({ id: String(position), text }));
    const end = await turn?.();
    const storage = await Storage.build(records, vectors, native.dimension, { ...index, signal }).finally(
      end,
    );
    return new SearchableStorage(storage, model, { embedded: strings.length, reused: 0, truncated: 0 });
  });
}

/** Texts embedded in one piece: as many as the model sorts by length at a time. */
const pieceTexts = 4096;

/** embedSettled() in pieces, so that others get in between; it ends after the first piece with a text that fails. */
function inPieces(model: EmbeddingModel, turn: () => Promise<() => void>) {
  return async (texts: readonly string[], { signal }: ProgressOptions) => {
    const vectors = new Float32Array(texts.length * model.dimension);
    for (let begin = 0; begin < texts.length; begin += pieceTexts) {
      const piece = texts.slice(begin, begin + pieceTexts);
      const end = await turn();
      const embedded = await model.embedSettled(piece, { signal }).finally(end);
      vectors.set(embedded.vectors, begin * model.dimension);
      const errors = embedded.errors.map((error) => ({ ...error, index: begin + error.index }));
      if (errors.length > 0) return { vectors, errors };
    }
    return { vectors, errors: [] };
  };
}

/** @throws INVALID_ARGUMENT for no strings, and for one that is empty or no string, by position */
export function checkStrings(strings: readonly unknown[]): void {
  if (!Array.isArray(strings) || strings.length === 0) {
    const reason = 'an array of at least one string is expected';
    throw LorekeepError.about('INVALID_ARGUMENT', { field: 'strings', reason });
  }
  const index = strings.findIndex((text) => typeof text !== 'string' || text.trim() === '');
  if (index < 0) return;
  const reason = typeof strings[index] === 'string' ? 'the string is empty' : 'a string is expected';
  throw LorekeepError.about('INVALID_ARGUMENT', { field: `strings[${index}]`, reason, index });
}

/** The error about strings that the model cannot embed: `detail` is about the first. */
function stringsError(errors: readonly ItemError[]): LorekeepError {
  const { code, index, message: reason, tokens, limit } = errors[0] as ItemError;
  const lines = listed(errors, (error) => `strings[${error.index}]: ${error.message}`);
  return new LorekeepError(code, lines.join('\n'), {
    field: `strings[${index}]`,
    reason,
    index,
    tokens,
    limit,
  });
}
