/** What the reader asks its worker for: the pages of one document. */
export interface PdfRequest {
  bytes: Uint8Array;
}

/** What the worker answers: the facts, each page, and the end. */
export type PdfReply =
  | { kind: 'opened'; pages: number; title: string | undefined }
  | { kind: 'page'; text: string }
  | { kind: 'end' }
  | { kind: 'failed'; reason: string; missing?: string };
