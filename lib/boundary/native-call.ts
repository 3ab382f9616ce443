import { binding } from './binding.js';
import { AbortError, LorekeepError, translateError } from './errors.js';
import type { NativeCancelToken, NativeMetadataBuffer, NativeRowBuffer, NativeTextArena } from './native.js';
import { onAbort } from './on-abort.js';

/** Options of every asynchronous call. */
export interface CallOptions {
  /** Aborting rejects the call with AbortError; native loops notice within milliseconds. */
  signal?: AbortSignal | undefined;
}

/** Options of long calls. */
export interface ProgressOptions extends CallOptions {
  /** Called with a non-decreasing fraction from 0 to 1, at most about 20 times a second. */
  onProgress?: ((fraction: number) => void) | undefined;
}

/** @throws INVALID_ARGUMENT for anything but an AbortSignal, such as its controller */
export function signalArgument(signal: AbortSignal | undefined): void {
  if (signal === undefined || typeof signal?.addEventListener === 'function') return;
  const message = `signal: an AbortSignal is expected, not ${describe(signal)}`;
  throw new LorekeepError('INVALID_ARGUMENT', message, { field: 'signal' });
}

/** Runs one native call: ties the signal to a cancel token and turns native errors into LorekeepError. */
export async function callNative<T>(
  signal: AbortSignal | undefined,
  call: (cancel: NativeCancelToken | undefined) => Promise<T> | T,
): Promise<T> {
  signalArgument(signal);
  if (signal?.aborted) throw new AbortError(signal.reason);
  const cancel = signal && new binding.CancelToken();
  const stopListening = onAbort(signal, () => cancel?.cancel());
  try {
    return await call(cancel);
  } catch (error) {
    const translated = translateError(error);
    if (signal?.aborted && translated instanceof LorekeepError && translated.code === 'CANCELLED') {
      throw new AbortError(signal.reason);
    }
    throw translated;
  } finally {
    stopListening();
  }
}

/** UTF-16 units converted per turn of the event loop: under a millisecond, page faults included. */
const sliceUnits = 64 * 1024;

/** Copies strings into native memory without blocking the event loop. `what` names the argument in errors. */
export function toArena(
  texts: readonly string[],
  what: string,
  signal?: AbortSignal | undefined,
): Promise<NativeTextArena> {
  return callNative(undefined, () => fillArena(texts, what, signal));
}

async function fillArena(
  texts: readonly string[],
  what: string,
  signal: AbortSignal | undefined,
): Promise<NativeTextArena> {
  if (!Array.isArray(texts))
    throw new LorekeepError('INVALID_ARGUMENT', `${what}: an array of strings is expected`);
  const arena = new binding.TextArena();
  arena.reserve(await bytesOfLong(texts, signal));
  let begin = 0;
  let units = 0;
  for (let end = 0; end < texts.length; end++) {
    const text: unknown = texts[end];
    if (typeof text !== 'string') {
      throw new LorekeepError(
        'INVALID_ARGUMENT',
        `${what}[${end}]: a string is expected, not ${describe(text)}`,
        {
          index: end,
        },
      );
    }
    units += text.length + 16;
    if (units >= sliceUnits) {
      arena.append(texts, begin, end + 1);
      begin = end + 1;
      units = 0;
      await new Promise(setImmediate);
      if (signal?.aborted) throw new AbortError(signal.reason);
    }
  }
  arena.append(texts, begin, texts.length);
  return arena;
}

/** Characters from which memory for all texts is reserved: growing by doubling would copy many megabytes in one step. */
const longTexts = 1024 * 1024;

/** Returns the bytes of the texts in UTF-8 if they are long together, else 0. What is no string counts as none. */
async function bytesOfLong(texts: readonly unknown[], signal: AbortSignal | undefined): Promise<number> {
  const lengthOf = (text: unknown) => (typeof text === 'string' ? text.length : 0);
  if (texts.reduce<number>((sum, text) => sum + lengthOf(text), 0) < longTexts) return 0;
  let bytes = 0;
  let units = 0;
  for (const text of texts) {
    if (typeof text !== 'string') continue;
    bytes += Buffer.byteLength(text);
    units += text.length + 16;
    if (units < sliceUnits) continue;
    units = 0;
    await new Promise(setImmediate);
    if (signal?.aborted) throw new AbortError(signal.reason);
  }
  return bytes;
}

/** Numbers copied per turn of the event loop: under a millisecond, page faults included. */
const sliceNumbers = 64 * 1024;

/** Copies rows into native memory without blocking the event loop. */
export function toRows(numbers: Float32Array, signal?: AbortSignal | undefined): Promise<NativeRowBuffer> {
  return callNative(undefined, () => fillRows(numbers, signal));
}

async function fillRows(numbers: Float32Array, signal: AbortSignal | undefined): Promise<NativeRowBuffer> {
  const rows = new binding.RowBuffer(numbers.length);
  for (let begin = 0; begin < numbers.length; begin += sliceNumbers) {
    if (begin > 0) await new Promise(setImmediate);
    if (signal?.aborted) throw new AbortError(signal.reason);
    rows.append(numbers.subarray(begin, begin + sliceNumbers));
  }
  return rows;
}

/** Values converted per turn of the event loop: some milliseconds. The characters of a text that count as one. */
const sliceValues = 2000;
const charactersOfValue = 256;

/** Values of the metadata of one record, which are converted in one turn. */
const mostValues = 20_000;

/** Copies typed metadata into native memory without blocking the event loop. */
export async function toMetadata(
  ids: readonly string[],
  metadata: readonly unknown[],
  fields: readonly { readonly name: string }[],
  signal?: AbortSignal | undefined,
): Promise<NativeMetadataBuffer> {
  const buffer = new binding.MetadataBuffer(fields);
  await fillMetadata(buffer, ids, metadata, fields, signal);
  return buffer;
}

/** Fills a metadata buffer, in slices of the event loop. */
export async function fillMetadata(
  buffer: NativeMetadataBuffer,
  ids: readonly string[],
  metadata: readonly unknown[],
  fields: readonly { readonly name: string }[],
  signal: AbortSignal | undefined,
): Promise<void> {
  let begin = 0;
  let values = 0;
  for (let end = 0; end < ids.length; end++) {
    const own = valuesOf(metadata[end], fields, (field) => refuseMetadata(end, ids[end], field));
    values += own + fields.length + 1;
    if (values < sliceValues) continue;
    buffer.append(ids, metadata, begin, end + 1);
    begin = end + 1;
    values = 0;
    await new Promise(setImmediate);
    if (signal?.aborted) throw new AbortError(signal.reason);
  }
  buffer.append(ids, metadata, begin, ids.length);
}

/** The values of the fields of a record, and one for each `charactersOfValue`. `refuse` gets the field that has most of too many. */
function valuesOf(
  metadata: unknown,
  fields: readonly { readonly name: string }[],
  refuse: (field: string) => never,
): number {
  if (typeof metadata !== 'object' || metadata === null) return 0;
  let values = 0;
  let largest = { name: '', values: 0 };
  const count = (value: unknown) => {
    values += 1 + (typeof value === 'string' ? Math.floor(value.length / charactersOfValue) : 0);
    return values <= mostValues;
  };
  for (const { name } of fields) {
    const before = values;
    const value = (metadata as Record<string, unknown>)[name];
    const fits = Array.isArray(value) ? value.every(count) : count(value);
    if (values - before > largest.values) largest = { name, values: values - before };
    if (!fits) refuse(largest.name);
  }
  return values;
}

function refuseMetadata(record: number, given: unknown, field: string): never {
  const id = typeof given === 'string' ? given.slice(0, 128) : '';
  const expected = `at most ${mostValues} values in all fields, where ${charactersOfValue} characters of a text count as one,`;
  const found = 'more';
  const message = `record ${record} (${JSON.stringify(id)}): field "${field}": expected ${expected} found ${found}`;
  throw new LorekeepError('INVALID_ARGUMENT', message, { record, id, field, expected, found });
}

/** Returns a description, for errors, of a value of the wrong type. */
export function describe(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value;
}
