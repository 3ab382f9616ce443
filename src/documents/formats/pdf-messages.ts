import type { PageLine } from './pdf-lines.js';

/** The request to the worker: the pages of one document. */
export interface PdfRequest {
  bytes: Uint8Array;
}

/** The answers of the worker: the facts, each page, and the end. */
export type PdfReply =
  | { kind: 'opened'; pages: number; title: string | undefined }
  | { kind: 'page'; lines: PageLine[] }
  | { kind: 'end' }
  | { kind: 'failed'; reason: string; missing?: string };
