import { binding } from '../boundary/binding.js';
import type { FileOwner } from '../boundary/native.js';
import { type CallOptions, callNative, toArena } from '../boundary/native-call.js';

/** What tells embeddings files of one model from others. */
export interface EmbeddingsKind {
  dimension: number;
  /** Identifies everything besides the text that an embedding depends on. */
  key: string;
}

/**
 * Looks up the embeddings of texts in embeddings files, of which the first wins. Files that are absent, damaged or of another kind are
 * left out. @returns positions of the texts that have one, and a row for each. @throws CANCELLED, OUT_OF_MEMORY
 */
export async function findEmbeddings(
  texts: readonly string[],
  files: readonly string[],
  { dimension, key }: EmbeddingsKind,
  { signal }: CallOptions = {},
): Promise<{ texts: Uint32Array; vectors: Float32Array }> {
  const arena = await toArena(texts, 'texts', signal);
  return callNative(signal, (cancel) => binding.findEmbeddings(arena, dimension, files, key, cancel));
}

/** What an embeddings file is made of. */
export interface EmbeddingsParts {
  /** Embeddings files. The first that has a text wins. */
  files?: readonly string[];
  /** Texts with a row of `vectors` each, which win over the files. */
  texts?: readonly string[];
  vectors?: Float32Array;
  /** Texts that are left out. */
  dropped?: readonly string[];
}

/** Writes an embeddings file, nothing if it would be empty. Returns its number of rows. @throws INVALID_ARGUMENT, IO, CANCELLED */
export async function uniteEmbeddings(
  path: string,
  { files = [], texts = [], vectors = new Float32Array(0), dropped = [] }: EmbeddingsParts,
  { dimension, key }: EmbeddingsKind,
  { signal, owner }: CallOptions & { owner?: FileOwner | undefined } = {},
): Promise<number> {
  const parts = {
    files,
    texts: await toArena(texts, 'texts', signal),
    vectors,
    dropped: await toArena(dropped, 'dropped', signal),
  };
  return callNative(signal, (cancel) => binding.uniteEmbeddings(path, parts, dimension, key, cancel, owner));
}
