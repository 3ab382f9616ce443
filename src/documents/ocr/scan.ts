/** A picture of text: an image file, or a page of a PDF. */
export type Scan =
  | { readonly kind: 'image'; readonly bytes: Uint8Array }
  | { readonly kind: 'page'; readonly bytes: Uint8Array /** From 1. */; readonly page: number };

/** Reads the text of pictures. */
export interface Recognizer {
  /** Returns the texts of the pages of a scan: one, or several of a TIFF. @throws UnreadableDocument */
  recognize(scan: Scan): Promise<string[]>;
}

/** Scans that are recognised at a time. */
export const mostAtOnce = 4;
