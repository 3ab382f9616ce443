import { stringArgument } from './arguments.js';
import { binding } from './binding.js';
import type { NativeModelDescription } from './native.js';
import { type CallOptions, callNative } from './native-call.js';

export interface InspectFileOptions extends CallOptions {
  /** Read every section and compare checksums, which takes as long as reading the file. Default true. */
  verify?: boolean | undefined;
}

export interface FileSection {
  /** Number of the section within its kind of file; see docs/files.md. */
  id: number;
  /** Empty for a section unknown to this version of lorekeep. */
  name: string;
  /** Bytes from the start of the file. */
  offset: number;
  bytes: number;
  checksum: 'right' | 'wrong' | 'unchecked';
}

/** A file's description of itself. Properties that do not apply to its kind, or could not be read, are absent. */
export interface FileInspection {
  kind: 'index' | 'text index' | 'embeddings' | 'hnswlib index' | 'unknown';
  /** Size of the file in bytes. */
  bytes: number;
  /** Version of the format. */
  version?: number;
  /** Fingerprint of the data that the file was made from: 16 hexadecimal digits. */
  fingerprint?: string;
  /** Why lorekeep cannot use this file: another version, or damage. */
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
  /** Number of distinct words. */
  terms?: number;
  /** Number of words in all texts. */
  tokens?: number;
  /** Size of the records file whose records the index carries. */
  recordsFileBytes?: number;
  /** XXH3-64 of the records file's content, 16 hexadecimal digits. */
  recordsFileChecksum?: string;
  /** Records.fingerprint of those records. */
  textsFingerprint?: string;
  /** Empty if the file has no sections or a damaged section table. */
  sections: FileSection[];
}

/**
 * Describes an index, a text index, an embeddings file or a plain hnswlib file without loading it. Damage is reported in
 * the result (`refusal`, and the section's `checksum`), not as an error.
 * @throws NOT_FOUND, IO, CANCELLED.
 */
export async function inspectFile(path: string, options: InspectFileOptions = {}): Promise<FileInspection> {
  const file = stringArgument('path', path);
  return callNative(options.signal, (cancel) => binding.describeFile(file, options.verify ?? true, cancel));
}

/** The header of a GGUF model. */
export type ModelDescription = NativeModelDescription;

/** Describes a GGUF model without loading it. @throws NOT_FOUND, IO, CANCELLED, MODEL_INVALID for a damaged header */
export async function describeModel(path: string, options: CallOptions = {}): Promise<ModelDescription> {
  const file = stringArgument('path', path);
  return callNative(options.signal, (cancel) => binding.describeModel(file, cancel));
}
