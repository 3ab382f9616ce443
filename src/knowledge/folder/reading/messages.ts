import type { ChunkOptions, Cut } from '../../../documents/chunks.js';
import type { TableMapping } from '../../../documents/tables/mapping.js';

/** Requests to the thread that finds, reads and cuts files. One is served at a time. */
export type ReadingRequest =
  | { kind: 'find'; folder: string; options: FindOptions }
  | { kind: 'read'; path: string; mapping: TableMapping | undefined; chunking: ChunkOptions }
  /** The last batch was taken. */
  | { kind: 'more' };

/** The options that say which files are found. */
export interface FindOptions {
  include?: readonly string[] | undefined;
  exclude?: readonly string[] | undefined;
  gitignore?: boolean | undefined;
}

/** A file of the folder, why it cannot be read, or the ending of a file whose kind is not read. */
export type FoundFile =
  | { path: string; stamp: string; mtime: number; bytes: number }
  | { path: string; problem: string }
  | { path: string; leftOut: string };

export type ReadingReply =
  | { kind: 'files'; files: FoundFile[] }
  | { kind: 'cuts'; cuts: Cut[] }
  | { kind: 'end'; problems: readonly string[] }
  | { kind: 'failed'; reason: string; missing?: string | undefined }
  /** The folder itself cannot be read. */
  | { kind: 'error'; message: string; facts: { code?: string | undefined; path?: string | undefined } };
