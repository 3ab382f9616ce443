import { stringArgument } from '../boundary/arguments.js';
import { binding } from '../boundary/binding.js';
import type { FileInspection, NativeModelDescription } from '../boundary/native.js';
import { type CallOptions, callNative } from '../boundary/native-call.js';
import type { Pooling } from '../embedding/embedding-model.js';

export type { FileInspection, FileSection } from '../boundary/native.js';

export interface InspectFileOptions extends CallOptions {
  /** Read every section and compare checksums, which takes as long as reading the file. Default true. */
  verify?: boolean | undefined;
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

export interface DescribeModelOptions extends CallOptions {
  /** Pooling of an embedding model whose file names none; it decides `refusals.embedding`. */
  pooling?: Pooling | undefined;
}

/** Describes a GGUF model without loading it. @throws NOT_FOUND, IO, CANCELLED, MODEL_INVALID for a damaged header */
export async function describeModel(
  path: string,
  { pooling, signal }: DescribeModelOptions = {},
): Promise<ModelDescription> {
  const file = stringArgument('path', path);
  return callNative(signal, (cancel) => binding.describeModel(file, pooling, cancel));
}
