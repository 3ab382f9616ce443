import {
  type FieldDefinition,
  type HnswOptions,
  type ItemError,
  LorekeepError,
  type Metadata,
  type MetadataOf,
  type ProgressOptions,
  Storage,
  type StorageRecord,
  type Tokenizer,
} from '../../lib/internal.js';
import { listed } from '../base/schema/messages.js';
import { embedInPieces, type Turn } from './embed-in-pieces.js';
import { NoEmbedder } from './embedder.js';
import { withFieldNumbers } from './field-numbers.js';
import { factsOf, type GivenModel, type KnowledgeModel, knowledgeModel, withModel } from './model.js';
import { checkOptionNames, type OptionNames } from './option-names.js';
import type { SearchDefaults } from './search-defaults.js';
import { SearchableStorage } from './searchable.js';

export interface CreateStorageOptions extends ProgressOptions, HnswOptions {
  /** One record each; ids are "0", "1" and so on. Exactly one of `strings` and `records` is needed. */
  strings?: readonly string[] | undefined;
  /** Records with ids of their own, and with metadata for `fields`. */
  records?: readonly StorageRecord[] | undefined;
  /** The records' typed metadata fields, for filters and hits. Default: none. */
  fields?: readonly FieldDefinition[] | undefined;
  /** A model, one with the prefixes that it wants, or an embedder of your own. It stays the caller's. */
  model?: GivenModel | undefined;
  /**
   * Embeddings that exist already: row-major, one row per record. Searches then need `model` or the query's `vector`, or look
   * for words alone.
   */
  vectors?: Float32Array | undefined;
  /** Default "enhanced". */
  tokenizer?: Tokenizer | undefined;
}

const known: OptionNames<CreateStorageOptions> = {
  strings: true,
  records: true,
  fields: true,
  model: true,
  vectors: true,
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
 * Makes a storage in memory: embeds every text, unless `vectors` has its embedding, and indexes it. Nothing is written to
 * disk; see SearchableStorage.save(). `Own`: the type of the records' metadata.
 * @throws LorekeepError: INVALID_ARGUMENT (no texts; an empty text or a value that is no string, named by position; an id twice;
 * metadata that does not fit the fields), TEXT_TOO_LONG, DIMENSION_MISMATCH, OUT_OF_MEMORY, CANCELLED.
 */
export async function createStorage<Own extends MetadataOf<Own> = Metadata>(
  options: CreateStorageOptions,
  /** @internal `turn` runs each piece of the work. */
  { turn = atOnce, defaults }: { turn?: Turn; defaults?: SearchDefaults } = {},
): Promise<SearchableStorage<Own>> {
  checkOptionNames(options, known, 'createStorage');
  const { strings, records: given, vectors, model: givenModel, signal, onProgress, ...index } = options;
  const { records: written, name } = recordsOf(strings, given);
  const records = await withFieldNumbers(written, options.fields);
  const model = modelOf(givenModel, vectors, records.length);
  const rows = vectors ?? (await embedRecords(records, name, { model, signal, onProgress }, turn));
  const { dimension } = factsOf(model);
  const storage = await turn(() => Storage.build(records, rows, dimension, { ...index, signal }));
  const embedded = vectors === undefined ? records.length : 0;
  const counts = { embedded, reused: records.length - embedded, truncated: 0 };
  return new SearchableStorage<Own>(storage, model, counts, defaults, options.fields);
}

const atOnce: Turn = (work) => work();

/** The records, and how to name one in errors. */
function recordsOf(
  strings: readonly string[] | undefined,
  records: readonly StorageRecord[] | undefined,
): { records: readonly StorageRecord[]; name: (index: number) => string } {
  if ((strings === undefined) === (records === undefined)) {
    const found = strings === undefined ? 'neither is given' : 'both are given';
    const reason = `exactly one of strings and records is expected, and ${found}`;
    throw LorekeepError.about('INVALID_ARGUMENT', { field: 'records', reason });
  }
  if (strings !== undefined) {
    checkStrings(strings);
    const all = strings.map((text, position) => ({ id: String(position), text }));
    return { records: all, name: (index) => `strings[${index}]` };
  }
  const list = records as readonly StorageRecord[];
  if (!Array.isArray(list) || list.length === 0) {
    const reason = 'an array of at least one record is expected';
    throw LorekeepError.about('INVALID_ARGUMENT', { field: 'records', reason });
  }
  for (const [index, record] of list.entries()) {
    for (const field of ['id', 'text'] as const) {
      const value: unknown = record?.[field];
      if (typeof value === 'string' && isWritten(value)) continue;
      const reason = typeof value === 'string' ? 'the string is empty' : 'a string is expected';
      throw LorekeepError.about('INVALID_ARGUMENT', { field: `records[${index}].${field}`, reason, index });
    }
  }
  refuseRepeated(list);
  return { records: list, name: (index) => `records[${index}] (${JSON.stringify(list[index]?.id)})` };
}

/** @throws INVALID_ARGUMENT for an id that occurs twice, before anything is embedded */
function refuseRepeated(records: readonly StorageRecord[]): void {
  const first = new Map<string, number>();
  for (const [index, { id }] of records.entries()) {
    const other = first.get(id);
    if (other === undefined) {
      first.set(id, index);
      continue;
    }
    const reason = `${JSON.stringify(id)} is the id of records[${other}] already`;
    throw LorekeepError.about('INVALID_ARGUMENT', { field: `records[${index}].id`, reason, index, id });
  }
}

/** The model of the storage. @throws INVALID_ARGUMENT, DIMENSION_MISMATCH */
function modelOf(
  given: GivenModel | undefined,
  vectors: Float32Array | undefined,
  records: number,
): KnowledgeModel {
  if (vectors === undefined) return knowledgeModel(given as GivenModel);
  const refuse = (reason: string) => LorekeepError.about('DIMENSION_MISMATCH', { field: 'vectors', reason });
  const dimension = vectors.length / records;
  if (!(vectors instanceof Float32Array) || dimension === 0 || !Number.isInteger(dimension)) {
    throw refuse(`a Float32Array with a row for each of the ${records} records is expected`);
  }
  if (given === undefined) return { model: new NoEmbedder(dimension) };
  const model = knowledgeModel(given);
  const own = factsOf(model).dimension;
  if (own === dimension) return model;
  throw refuse(`rows of ${own} numbers are expected, as the model has, not ${dimension}`);
}

interface Embedding extends ProgressOptions {
  model: KnowledgeModel;
}

async function embedRecords(
  records: readonly StorageRecord[],
  name: (index: number) => string,
  { model, signal, onProgress }: Embedding,
  turn: Turn,
): Promise<Float32Array> {
  const { documentPrefix = '' } = model;
  const texts = records.map(({ text }) => documentPrefix + text);
  const embed = (some: readonly string[]) =>
    withModel(model, (native) => native.embedSettled(some, { signal, onProgress }), signal);
  const { dimension } = factsOf(model);
  const { vectors, errors } = await (turn === atOnce
    ? embed(texts)
    : embedInPieces(texts, dimension, embed, turn));
  if (errors.length > 0) throw textsError(errors, name);
  return vectors;
}

/** Returns whether a text is more than blanks. Does not look at those after the first other character. */
const isWritten = (text: string) => /\S/.test(text);

/** @throws INVALID_ARGUMENT for no strings, and for an empty string or another value, by position */
export function checkStrings(strings: readonly unknown[]): void {
  if (!Array.isArray(strings) || strings.length === 0) {
    const reason = 'an array of at least one string is expected';
    throw LorekeepError.about('INVALID_ARGUMENT', { field: 'strings', reason });
  }
  const index = strings.findIndex((text) => typeof text !== 'string' || !isWritten(text));
  if (index < 0) return;
  const reason = typeof strings[index] === 'string' ? 'the string is empty' : 'a string is expected';
  throw LorekeepError.about('INVALID_ARGUMENT', { field: `strings[${index}]`, reason, index });
}

/** The error about texts that the model cannot embed: `detail` is about the first. */
function textsError(errors: readonly ItemError[], name: (index: number) => string): LorekeepError {
  const { code, index, message: reason, tokens, limit } = errors[0] as ItemError;
  const lines = listed(errors, (error) => `${name(error.index)}: ${error.message}`);
  return new LorekeepError(code, lines.join('\n'), { field: name(index), reason, index, tokens, limit });
}
