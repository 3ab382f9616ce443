import { stringArgument } from './arguments.js';
import { binding } from './binding.js';
import type { NativeModelDescription } from './native.js';
import { type CallOptions, callNative } from './native-call.js';

export interface InspectFileOptions extends CallOptions {
  /** Read every section and compare checksums, which takes as long as reading the file. Default true. */
  verify?: boolean | undefined;
}

export interface FileSection {
  /** Number of the section within its kind of file: docs/files.md. */
  id: number;
  /** Empty for one that this version of lorekeep does not know. */
  name: string;
  /** Bytes from the file's beginning. */
  offset: number;
  bytes: number;
  checksum: 'right' | 'wrong' | 'unchecked';
}

/** What a file says of itself. What does not apply to its kind, or could not be read, is absent. */
export interface FileInspection {
  kind: 'index' | 'text index' | 'embeddings' | 'hnswlib index' | 'unknown';
  /** Size of the file. */
  bytes: number;
  /** Of the format. */
  version?: number;
  /** Names what the file was made from: 16 hexadecimal digits. */
  fingerprint?: string;
  /** Why lorekeep does not read this file: another version, or damage. */
  refusal?: string;
  /** Rows of vectors, or indexed texts. */
  rows?: number;
  /** Numbers per vector. */
  dimension?: number;
  vectorType?: 'f32' | 'f16' | 'i8';
  /** Links per node on the upper levels of the graph. */
  m?: number;
  efConstruction?: number;
  tokenizer?: string;
  /** Distinct ones. */
  terms?: number;
  /** Of all texts. */
  tokens?: number;
  /** Size of the records file whose records an index carries. */
  recordsFileBytes?: number;
  /** XXH3-64 of its content, 16 hexadecimal digits. */
  recordsFileChecksum?: string;
  /** Records.fingerprint of those records. */
  textsFingerprint?: string;
  /** Empty where the file has no sections or its table cannot be trusted. */
  sections: FileSection[];
}

/**
 * Describes an index, a text index, an embeddings file or a plain hnswlib file without loading it. Damage is part of the answer
 * (`refusal`, and the section's `checksum`), not an error.
 * @throws NOT_FOUND, IO, CANCELLED.
 */
export async function inspectFile(path: string, options: InspectFileOptions = {}): Promise<FileInspection> {
  const file = stringArgument('path', path);
  return callNative(options.signal, (cancel) => binding.describeFile(file, options.verify ?? true, cancel));
}

/** What the header of a GGUF model says. */
export type ModelDescription = NativeModelDescription;

/** Describes a GGUF model without loading it. @throws NOT_FOUND, IO, CANCELLED, MODEL_INVALID for a damaged header */
export async function describeModel(path: string, options: CallOptions = {}): Promise<ModelDescription> {
  const file = stringArgument('path', path);
  return callNative(options.signal, (cancel) => binding.describeModel(file, cancel));
}
