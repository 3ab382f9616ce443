import type { ChunkOptions, Cut } from '../../../documents/chunks.js';
import type { Scan } from '../../../documents/ocr/scan.js';
import type { TableMapping } from '../../../documents/tables/mapping.js';

/** Requests to the thread that finds, reads and cuts files. One is served at a time. */
export type ReadingRequest =
  | { kind: 'find'; folder: string; options: FindOptions }
  | {
      kind: 'read';
      path: string;
      mapping: TableMapping | undefined;
      chunking: ChunkOptions;
      /** Whether scans are read. */
      ocr: boolean;
      /** Whether only the main text of web pages is read. */
      readability: boolean;
    }
  /** The result of a `scan`. */
  | ({ kind: 'recognized'; id: number } & RecognizedScan)
  /** The last batch was taken. */
  | { kind: 'more' };

/** The options that say which files are found. */
export interface FindOptions {
  include?: readonly string[] | undefined;
  exclude?: readonly string[] | undefined;
  gitignore?: boolean | undefined;
  ocr?: boolean | undefined;
}

/** The texts of the pages of a scan, or why it cannot be read. */
export type RecognizedScan = { texts: string[] } | { reason: string; missing?: string | undefined };

/** A file of the folder, why it cannot be read, the ending of a file whose kind is not read, or a folder that is looked into. */
export type FoundFile =
  | { path: string; stamp: string; mtime: number; bytes: number }
  | { path: string; problem: string }
  | { path: string; leftOut: string }
  | { path: string; isFolder: true /** Tells it from another folder of this name. */; id: string };

export type ReadingReply =
  | { kind: 'files'; files: FoundFile[] }
  | { kind: 'cuts'; cuts: Cut[] }
  /** A scan whose text the reader waits for. Programs run outside of the thread, so that its end ends them. */
  | { kind: 'scan'; id: number; scan: Scan }
  | { kind: 'end'; problems: readonly string[]; missing?: string | undefined }
  | { kind: 'failed'; reason: string; missing?: string | undefined }
  /** The folder itself cannot be read. */
  | { kind: 'error'; message: string; facts: { code?: string | undefined; path?: string | undefined } };
