import type { BackendCandidate } from '../devices/backend-candidate.js';
import type { ItemError } from './native.js';

/** Every error code of the library, with its meaning. */
export const errorCodes = {
  INVALID_ARGUMENT: 'an argument is invalid; `message` names it and the expected values',
  NOT_FOUND: 'a named file does not exist',
  IO: 'the operating system refused a read or a write',
  CORRUPT: "a file's content contradicts itself or its checksum",
  UNSUPPORTED: 'well-formed, but not supported by this version',
  DIMENSION_MISMATCH: 'a vector or a file has another dimension than the index or the model',
  TEXT_TOO_LONG: "a text has more tokens than the model's context; `detail` has `tokens` and `limit`",
  MODEL_INVALID: 'a model file cannot be used; `message` gives the reason',
  CANCELLED: "the caller's AbortSignal was aborted; `cause` is its reason",
  CLOSED: 'the object was closed before the call',
  OUT_OF_MEMORY: 'an allocation failed',
  DEVICE_LOST: 'a GPU failed or was taken away; load the model again',
  RECORD_EXISTS: 'a batch adds a record whose id exists; `detail.ids` names up to 100 of them',
  RECORD_MISSING: 'a batch names a record that does not exist; `detail.ids` names up to 100 of them',
  DUPLICATE_ID: 'a batch names a record twice; `detail.ids` names up to 100 of them',
  VERSION_MISMATCH: "a batch is for another version of the storage; `detail.version` is the storage's",
  VERSION_GONE: 'a version of a storage is not kept; `detail.version` is the newest one',
  INTERNAL: 'a bug in lorekeep',
} as const;

export type ErrorCode = keyof typeof errorCodes;

/** The parts of an error message, as far as they apply. */
export type ErrorFacts = {
  /** Path of the file or folder concerned. */
  readonly file?: string | undefined;
  /** The argument, option, or field of the file: `rrf.weights`, `strings[3]`. */
  readonly field?: string | undefined;
  /** The problem, without its location. It names no path of this machine. */
  readonly reason?: string | undefined;
  /** How to fix it. */
  readonly remedy?: string | undefined;
  /** Name of the model. */
  readonly model?: string | undefined;
};

/** Which record, string or row is concerned. */
type Item = {
  /** Position of the text or value in the list that was given, from 0. */
  readonly index?: number | undefined;
  /** Position of the record, from 0. */
  readonly record?: number | undefined;
  /** The record's id. */
  readonly id?: string | undefined;
};

/** All texts of a call that have no vector. */
type Items = {
  /** All texts of the call that failed, by `index`; the other facts are about the first. */
  readonly items?: readonly ItemError[] | undefined;
};

/** A place in a text file. */
type Line = {
  /** Line, from 1. */
  readonly line?: number | undefined;
  /** Column, from 1. */
  readonly column?: number | undefined;
};

/** A value that is not as it should be. */
type Mismatch = {
  /** The expected value. Of a dimension or a number of records: the number. */
  readonly expected?: string | number | undefined;
  /** The value found instead. */
  readonly found?: string | number | undefined;
};

/** An error about several mistakes, each on a line of the message. The other facts are about the first. */
type Several = {
  /** Their number; of a records file, reading stops after 20, and one more counts for the rest. */
  readonly mistakes?: number | undefined;
  /**
   * Each mistake of a file with its line, without the file: `"3: record 2: text: expected a string, found 5"`. The last may be about
   * the others, without a line: `"and 10 more"`.
   */
  readonly issues?: readonly string[] | undefined;
};

/** Why an index or a cache does not fit the records. */
type Stale = {
  /** The part that differs: `"fingerprint"`, `"records"`, ... */
  readonly mismatch?: string | undefined;
};

/** The ids of a batch that it cannot be applied for. */
type Ids = {
  /** The first 100 of them. */
  readonly ids?: readonly string[] | undefined;
  /** Their number. */
  readonly count?: number | undefined;
};

type Version = {
  /** The newest version of the storage. */
  readonly version?: number | undefined;
};

type System = {
  /** The operating system's error number. */
  readonly errno?: number | undefined;
  /** The folder concerned. */
  readonly folder?: string | undefined;
  /** Number of the process that holds the file's lock; 0 if unknown. */
  readonly holder?: number | undefined;
};

type Memory = {
  /** Bytes that were asked for. */
  readonly bytes?: number | undefined;
};

/** `detail` of an error, by its `code`. A fact that does not apply is absent. */
export interface ErrorDetailByCode {
  INVALID_ARGUMENT: ErrorFacts &
    Item &
    Items &
    Line &
    Mismatch &
    Several &
    Stale & {
      /** Place in the filter, the schema of fields or the config. */
      readonly path?: string | undefined;
      /** The nearest known name, where one is near. */
      readonly nearest?: string | undefined;
      /** Known names. */
      readonly known?: readonly string[] | undefined;
      /** The filter's variable. */
      readonly variable?: string | undefined;
      /** JSON pointer into a JSON schema. */
      readonly pointer?: string | undefined;
      /** Position of the vector, from 0. */
      readonly row?: number | undefined;
      /** Position of the node in a graph, from 0. */
      readonly node?: number | undefined;
      /** Position of the first of two records with the same id, from 0. */
      readonly first?: number | undefined;
      /** Position of the second one. */
      readonly second?: number | undefined;
      /** Numbers that were given for all vectors together. */
      readonly values?: number | undefined;
      /** The dimension that was given. */
      readonly dimension?: number | undefined;
      /** The `ef` that was given. */
      readonly ef?: number | undefined;
      /** Tokens of the text. */
      readonly tokens?: number | undefined;
      /** Maximum number of tokens that the model accepts. */
      readonly limit?: number | undefined;
      /** Files that could not be read. */
      readonly problems?: readonly { readonly path: string; readonly reason: string }[] | undefined;
    };
  NOT_FOUND: ErrorFacts & System;
  IO: ErrorFacts & System & Stale;
  CORRUPT: ErrorFacts &
    Item &
    Line &
    Mismatch &
    Several & {
      /** Path of a mapped file that was changed while it was open. */
      readonly path?: string | undefined;
      /** Version of the file's format. */
      readonly version?: number | undefined;
      /** Position of the damaged vector, from 0. */
      readonly row?: number | undefined;
      /** Position of the damaged node of the graph, from 0. */
      readonly node?: number | undefined;
    };
  UNSUPPORTED: ErrorFacts &
    Stale & {
      /** Architecture of the model. */
      readonly architecture?: string | undefined;
      /** Version of the file's format. */
      readonly version?: number | undefined;
      /** Folder that was searched for compute backends. */
      readonly directory?: string | undefined;
      /** Backends that were considered, and why each can or cannot be used. */
      readonly candidates?: readonly BackendCandidate[] | undefined;
      /** Platform that no native addon fits: `linux-x64`. */
      readonly platform?: string | undefined;
      /** Addon files that were tried. */
      readonly tried?: readonly string[] | undefined;
      /** The system's message about an addon that does not load. */
      readonly linker?: string | undefined;
      /** Functions that an addon of another build lacks. */
      readonly missing?: readonly string[] | undefined;
    };
  DIMENSION_MISMATCH: ErrorFacts &
    Mismatch & {
      /** Dimension of the index or of the vectors that were given. */
      readonly dimension?: number | undefined;
      /** Numbers in the vector that was given. */
      readonly length?: number | undefined;
      /** Numbers in the vectors that were given. */
      readonly values?: number | undefined;
    };
  TEXT_TOO_LONG: ErrorFacts &
    Item &
    Items &
    Several & {
      /** Tokens of the text, special tokens included; 0 if it is too long to be counted. */
      readonly tokens: number;
      /** Maximum number of tokens. */
      readonly limit: number;
      /** Bytes of a text that is too long to be counted. */
      readonly bytes?: number | undefined;
    };
  MODEL_INVALID: ErrorFacts &
    Item &
    Items &
    Several & {
      /** Tokens of the text that gave no valid vector. */
      readonly tokens?: number | undefined;
      /** Maximum number of tokens that the model accepts. */
      readonly limit?: number | undefined;
    };
  CANCELLED: ErrorFacts;
  CLOSED: ErrorFacts;
  OUT_OF_MEMORY: ErrorFacts &
    Memory & {
      /** Vectors of the graph that did not fit. */
      readonly rows?: number | undefined;
      /** Cells of the KV cache that the request needs. */
      readonly cells?: number | undefined;
      /** Cells that are free. */
      readonly free?: number | undefined;
      /** Bytes that the model needs on `device`. */
      readonly need?: number | undefined;
      /** Name of the GPU, or `"CPU"`. */
      readonly device?: string | undefined;
      /** Bytes that models may take there. */
      readonly limit?: number | undefined;
    };
  DEVICE_LOST: ErrorFacts & {
    /** Name of the GPU. */
    readonly device?: string | undefined;
    /** true: the GPU was given back on purpose. */
    readonly released?: boolean | undefined;
  };
  RECORD_EXISTS: ErrorFacts & Item & Ids;
  RECORD_MISSING: ErrorFacts & Item & Ids;
  DUPLICATE_ID: ErrorFacts & Item & Ids;
  VERSION_MISMATCH: ErrorFacts & Version;
  VERSION_GONE: ErrorFacts & Version;
  INTERNAL: ErrorFacts;
}

type KeysOf<Union> = Union extends unknown ? keyof Union : never;
type ValueOf<Union, Key extends PropertyKey> = Union extends { readonly [K in Key]?: infer Value }
  ? Value
  : never;

/** The facts of an error of any code. */
export type ErrorDetail = {
  readonly [Key in KeysOf<ErrorDetailByCode[ErrorCode]>]?: ValueOf<ErrorDetailByCode[ErrorCode], Key>;
};
