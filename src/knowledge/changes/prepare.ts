import {
  booleanArgument,
  type FieldDefinition,
  integerArgument,
  LorekeepError,
  type Storage,
  type StorageChanges,
  type StorageRecord,
} from '../../../lib/internal.js';
import { listed } from '../../base/schema/messages.js';
import { wellFormed } from '../../base/schema/well-formed.js';
import { clientSlices, mapInSlices } from '../../base/waiting/next-slice.js';
import { embedInPieces } from '../embed-in-pieces.js';
import { withFieldNumbers } from '../field-numbers.js';
import { embedOnce } from '../kept-embeddings.js';
import { factsOf, type KnowledgeModel, type LongText, withModel } from '../model.js';
import { checkOptionNames, type OptionNames } from '../option-names.js';
import type { LogSource } from './base-log.js';
import type { LoggedOperation } from './frames.js';
import type { BatchOptions } from './public.js';
import { checkRecordJsons, recordJson } from './record-json.js';

/** A batch that obeys the rules and has its embeddings. It shares nothing with the records that were given. */
export interface PreparedBatch {
  changes: StorageChanges;
  /** A row per record of `add`, then of `replace`. */
  vectors: Float32Array;
  operations: LoggedOperation[];
}

/** What a batch is checked and embedded for. */
export interface BatchSource {
  config: { fields?: readonly FieldDefinition[] | undefined; long_text?: LongText | undefined };
  model: KnowledgeModel;
  /** The knowledge base; undefined for a storage in memory. */
  base?: LogSource | undefined;
}

/** Records between two readings of the clock: their metadata may be large. */
const recordsAtOnce = 8;

const known: OptionNames<StorageChanges> = {
  add: true,
  replace: true,
  remove: true,
  upsert: true,
  ifVersion: true,
};

/**
 * Checks a batch by the rules of records files and embeds its texts.
 * @throws INVALID_ARGUMENT, DUPLICATE_ID (`detail.ids`), TEXT_TOO_LONG (`detail.id`), errors of the model, CANCELLED
 */
export async function prepareBatch(
  given: StorageChanges,
  source: BatchSource,
  signal: AbortSignal | undefined,
  { turn, origin = 'update' }: BatchOptions = {},
): Promise<PreparedBatch> {
  const { config, model, base } = source;
  checkOptionNames(given, known, 'update');
  const upsert = booleanArgument('upsert', given.upsert, false);
  const { ifVersion } = given;
  if (ifVersion !== undefined) integerArgument('ifVersion', ifVersion, 0, 0, Number.MAX_SAFE_INTEGER);
  const count = listOf('add', given.add).length;
  const givenRecords = [...listOf('add', given.add), ...listOf('replace', given.replace)];
  const removed = [...listOf('remove', given.remove)];
  const records = await withFieldNumbers(await mapInSlices(givenRecords, ownRecord), config.fields);
  const added = records.slice(0, count);
  const changes = { add: added, replace: records.slice(count), remove: removed, upsert, ifVersion };
  // Half of a surrogate pair becomes another character in UTF-8, and the id of another record.
  const isId = (id: unknown) => typeof id === 'string' && id !== '' && wellFormed(id);
  const wrong = (await mapInSlices(removed, isId)).indexOf(false);
  if (wrong >= 0) throw refuse(`remove[${wrong}]`, 'an id is expected');
  const nameOf = (index: number) => {
    const place = index < added.length ? `add[${index}]` : `replace[${index - added.length}]`;
    const id = records[index]?.id;
    return typeof id === 'string' ? `${place} (${JSON.stringify(id.slice(0, 128))})` : place;
  };
  const odd = records.findIndex((record) => typeof record !== 'object' || record === null);
  if (odd >= 0) throw refuse(nameOf(odd), 'an object with id and text is expected');
  const jsons = await mapInSlices(records, (record) => recordJson(record, origin), recordsAtOnce);
  await checkRecordJsons(jsons, config.fields, nameOf, signal);
  await checkDuplicates([...records.map(({ id }) => id), ...removed]);
  const texts = records.map(({ text }) => text);
  const { dimension } = factsOf(model);
  const vectors = texts.length === 0 ? new Float32Array(0) : await embed(texts);
  const operations = await mapInSlices(records, ({ id }, index): LoggedOperation => {
    const vector = vectors.subarray(index * dimension, (index + 1) * dimension);
    return { kind: 'put', id, json: jsons[index] as string, vector };
  });
  const removals = await mapInSlices(removed, (id): LoggedOperation => ({ kind: 'remove', id }));
  return { changes, vectors, operations: [...operations, ...removals] };

  async function embed(all: readonly string[]): Promise<Float32Array> {
    const options = { signal, kind: 'document', truncate: config.long_text === 'truncate' } as const;
    const piece = (some: readonly string[]) =>
      withModel(model, (native) => native.embedSettled(some, options), signal);
    const embedNew = (some: readonly string[]) => {
      const prefixed = some.map((text) => (model.documentPrefix ?? '') + text);
      return turn === undefined ? piece(prefixed) : embedInPieces(prefixed, dimension, piece, turn);
    };
    const warn = (err: unknown) => base?.log.warn({ err }, 'embeddings are not kept');
    const { vectors: rows, errors } = await (base === undefined
      ? embedNew(all)
      : embedOnce(all, base, embedNew, { signal, warn }));
    const [first] = errors.toSorted((a, b) => a.index - b.index);
    if (first === undefined) return rows;
    const { code, index, tokens, limit } = first;
    const lines = listed(errors, (error) => `${nameOf(error.index)}: ${error.message}`);
    const facts = { index, id: records[index]?.id, tokens, limit, issues: lines, mistakes: errors.length };
    throw new LorekeepError(code, lines.join('\n'), facts);
  }
}

/** Prepares batches side by side, as embedding takes times of its own, and returns them in the order of the calls. */
export class BatchesInOrder {
  /** Settles when the latest batch has been prepared. */
  #latest: Promise<unknown> = Promise.resolve();

  /** @throws as prepareBatch() */
  prepare(...given: Parameters<typeof prepareBatch>): Promise<PreparedBatch> {
    const own = prepareBatch(...given);
    const inOrder = Promise.allSettled([own, this.#latest]).then(() => own);
    // Without the batch: its texts may be forgotten.
    this.#latest = inOrder.then(
      () => {},
      () => {},
    );
    return inOrder;
  }
}

/** Copies what a batch reads of a record, each property once: its caller may change the record before the batch is applied. */
function ownRecord(record: StorageRecord): StorageRecord {
  if (typeof record !== 'object' || record === null) return record;
  const { id, text, metadata, ...others } = record;
  const isObject = typeof metadata === 'object' && metadata !== null && !Array.isArray(metadata);
  return { id, text, metadata: isObject ? ownMetadata(metadata) : metadata, ...others };
}

function ownMetadata(metadata: NonNullable<StorageRecord['metadata']>): StorageRecord['metadata'] {
  const own: Record<string, unknown> = { ...metadata };
  for (const [name, value] of Object.entries(own)) if (Array.isArray(value)) own[name] = [...value];
  return own as StorageRecord['metadata'];
}

function listOf<T>(field: 'add' | 'replace' | 'remove', list: readonly T[] | undefined): readonly T[] {
  if (list === undefined || Array.isArray(list)) return list ?? [];
  throw refuse(field, 'an array is expected');
}

const refuse = (field: string, reason: string) => LorekeepError.about('INVALID_ARGUMENT', { field, reason });

/** Ids between two readings of the clock. */
const idsAtOnce = 512;

/** Most ids that one call looks for. */
const idsPerCall = 10_000;

/** @throws DUPLICATE_ID with `detail.ids` */
export async function checkDuplicates(ids: readonly string[]): Promise<void> {
  const seen = new Set<string>();
  const twice: string[] = [];
  const slices = clientSlices();
  for (const [at, id] of ids.entries()) {
    if (at % idsAtOnce === 0 && slices.over) await slices.next();
    if (seen.size === seen.add(id).size) twice.push(id);
  }
  refuseIds('DUPLICATE_ID', twice, 'the id occurs twice in the batch');
}

/**
 * Refuses a prepared batch that the storage would refuse for its ids, before it is logged.
 * @throws RECORD_EXISTS, RECORD_MISSING, each with `detail.ids`; CANCELLED
 */
export async function checkIds(
  storage: Pick<Storage, 'known'>,
  { changes }: Pick<PreparedBatch, 'changes'>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const added = (changes.add ?? []).map(({ id }) => id);
  const replaced = (changes.replace ?? []).map(({ id }) => id);
  const removed = changes.remove ?? [];
  const all = [...added, ...replaced, ...removed];
  const existing = new Set<string>();
  for (let begin = 0; begin < all.length; begin += idsPerCall) {
    for (const id of await storage.known(all.slice(begin, begin + idsPerCall), { signal })) existing.add(id);
  }
  const isThere = (id: string) => existing.has(id);
  const isMissing = (id: string) => !existing.has(id);
  if (changes.upsert !== true)
    refuseIds('RECORD_EXISTS', await selected(added, isThere), 'a record with this id exists');
  const needed = changes.upsert === true ? removed : [...replaced, ...removed];
  refuseIds('RECORD_MISSING', await selected(needed, isMissing), 'no record has this id');
}

/** Like Array.filter(), in slices of the client. */
async function selected(ids: readonly string[], select: (id: string) => boolean): Promise<string[]> {
  const isSelected = await mapInSlices(ids, select, idsAtOnce);
  return ids.filter((_, at) => isSelected[at]);
}

/** Ids that an error lists. */
const listedIds = 100;

function refuseIds(
  code: 'DUPLICATE_ID' | 'RECORD_EXISTS' | 'RECORD_MISSING',
  ids: readonly string[],
  problem: string,
): void {
  const [first] = ids;
  if (first === undefined) return;
  const others = ids.length === 1 ? '' : `; the same holds for ${ids.length - 1} more`;
  throw new LorekeepError(code, `${JSON.stringify(first.slice(0, 128))}: ${problem}${others}`, {
    id: first,
    ids: ids.slice(0, listedIds),
    count: ids.length,
  });
}
