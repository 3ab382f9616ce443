import { AnyLorekeepError, LorekeepError, type Options, searchOptions } from '../../lib/basics.js';
import { type ErrorCode as LibraryCode, translateError } from '../../lib/internal.js';
import { isChanged, isFileError } from '../knowledge/file-error.js';
import { EngineError } from '../knowledge/postgres/engine-error.js';
import { ModelLoadError } from '../models/model-load-error.js';
import { RemoteModelError } from '../models/remote/remote-model-error.js';
import { UnknownModelError } from '../models/unknown-model.js';
import { type ErrorCode, type ServerError, serverError } from '../protocol/errors.js';
import { pathOf } from '../search/option-names.js';
import { forClient, type ShownPath, shownBelow } from './client-error.js';

/**
 * The only place that converts library errors to protocol errors. The functions return errors they do not know unchanged.
 */

/** Converts errors that mean the same in every request; undefined for others. */
export function libraryError(thrown: unknown): ServerError | undefined {
  // A RangeError of JavaScript is a defect here.
  const error = thrown instanceof RangeError ? thrown : translateError(thrown);
  if (!(error instanceof LorekeepError)) return undefined;
  const { code } = error;
  if (error instanceof EngineError)
    return serverError(8003, `the storage cannot be used now: ${error.detail.reason}`, {}, { cause: error });
  if (!(error instanceof ModelLoadError)) {
    if (isChanged(error)) return serverError(8003, `a file ${changedInPlace}`, {}, { cause: error });
    const { message, details } = forClient(error, shownBelow([]));
    if (code === 'DEVICE_LOST') return serverError(5011, message, {}, { cause: error });
    return code === 'OUT_OF_MEMORY' ? serverError(5003, message, details, { cause: error }) : undefined;
  }
  const { model, told, why: reason } = error;
  if (code === 'CLOSED') return serverError(1008, 'the server is stopping', {}, { cause: error });
  if (code === 'OUT_OF_MEMORY') return serverError(5003, told, { model }, { cause: error });
  const pauseMs = error instanceof RemoteModelError ? error.pauseMs : undefined;
  const retry = pauseMs === undefined ? {} : { retry_after_ms: Math.ceil(pauseMs) };
  return serverError(5001, told, { model, reason, ...retry }, { cause: error });
}

const changedInPlace =
  'of the storage was changed in place while it was in use; load the storage again, and replace files by renaming';

/** The places of a search's parts in the request, and the code for an invalid filter or fusion. */
export interface SearchPlaces {
  /** The field that names the storage, and its value. */
  readonly storage: { readonly where: string; readonly value: string };
  /** The field that the query comes from. */
  readonly text: string;
  /** Prefix of the paths of the other fields. */
  readonly fields: string;
  readonly invalid: 1004 | 4003;
}

/** Converts the error of a search. */
export function searchError(error: unknown, places: SearchPlaces): unknown {
  if (!(error instanceof AnyLorekeepError))
    return unknownModel(error, `${places.fields}rerank.model`, places.invalid);
  const { field, reason, path, ...facts } = error.detail;
  if (isChanged(error)) {
    const { where, value } = places.storage;
    const storage = value.slice(0, 256);
    const message = `${where}: ${JSON.stringify(storage)}: a file ${changedInPlace}`;
    return serverError(8003, message, { path: where, storage }, { cause: error });
  }
  const told = (code: ErrorCode, where: string, details: object) =>
    serverError(code, `${where}: ${reason}`, { ...details, path: where }, { cause: error });
  if (field === 'text') {
    const code = textCodes[error.code];
    return code === undefined ? error : told(code, places.text, facts);
  }
  const name = pathOf(searchFields, String(field));
  if (name === undefined) return error;
  const where = `${places.fields}${name}`;
  return told(places.invalid, where, path === undefined ? facts : { ...facts, filter_path: String(path) });
}

const other = (text: string) => ({ kind: 'object', text }) as const;

/** The options of the library that fields of requests become. */
const searchFields: Options = {
  ...searchOptions,
  filter: other('Predicate.'),
  similarTo: other('Id of a record.'),
  highlight: other('Snippets.'),
};

const textCodes: Readonly<Partial<Record<LibraryCode, ErrorCode>>> = {
  TEXT_TOO_LONG: 5002,
  INVALID_ARGUMENT: 5004,
  MODEL_INVALID: 5005,
};

/** Converts the error of a name that the catalog does not have. */
export function unknownModel(error: unknown, path: string, code: SearchPlaces['invalid']): unknown {
  if (!(error instanceof UnknownModelError)) return error;
  const { message, known, nearest } = error;
  return serverError(code, `${path}: ${message}`, { path, known, nearest }, { cause: error });
}

/** Converts an error about an inline storage's texts, records or model name. */
export function inlineError(error: unknown): unknown {
  if (!(error instanceof LorekeepError) || error instanceof ModelLoadError) return error;
  const { field: path, reason, file, remedy, ...facts } = error.detail;
  if (path === undefined || error.code === 'MODEL_INVALID') return error;
  if ('record' in facts) return metadataError(error, String(path), facts as unknown as MetadataFault);
  const details = { ...facts, path: String(path) };
  return serverError(8003, `${path}: ${reason}`, details, { cause: error });
}

/** A value that does not fit its field. `record`: position from 0. */
interface MetadataFault {
  record: number;
  id: string;
  expected: string;
  found: string;
}

function metadataError(cause: LorekeepError, field: string, fault: MetadataFault): ServerError {
  const { record, id, expected, found } = fault;
  const path = `records[${record}].metadata.${field}`;
  const message = `${path}: ${expected} is expected, not ${found}`;
  return serverError(8003, message, { path, index: record, id }, { cause });
}

/** The facts about a name that the catalog does not have. */
interface UnknownModel {
  field?: string;
  reason?: string;
  known?: readonly string[];
  nearest?: string;
}

/** Converts an error about a config or the files that it names to one code. */
export function configError(
  error: unknown,
  { path: file, where }: { path: string; where: string },
  shown: ShownPath,
): unknown {
  if (!isFileError(error) || error instanceof ModelLoadError) return error;
  const { detail } = error;
  if (detail.field === 'embedding_model') {
    const { field, reason, known, nearest } = detail as UnknownModel;
    const message = `${where}: ${JSON.stringify(file)}: ${field}: ${reason}`;
    return serverError(8003, message, { known, nearest, path: where, file, field }, { cause: error });
  }
  const told = isChanged(error)
    ? { message: `${JSON.stringify(file)}: a file ${changedInPlace}`, details: {} }
    : forClient(error, shown);
  const details = { ...told.details, path: where };
  return serverError(8003, `${where}: ${told.message}`, details, { cause: error });
}
