import { extname } from 'node:path';

interface FormatFacts {
  /** Endings of file names, in small letters. */
  readonly endings: readonly string[];
  /** A mapping of columns applies to its files. */
  readonly hasColumns?: boolean;
  /** What to do about a file without text. */
  readonly textRemedy?: string;
}

const formats = {
  markdown: { endings: ['.md', '.markdown', '.mdx'] },
  html: { endings: ['.html', '.htm'] },
  xhtml: { endings: ['.xhtml', '.xht'] },
  text: { endings: ['.txt', '.text', '.rst', '.adoc', '.org'] },
  pdf: { endings: ['.pdf'], textRemedy: 'if its pages are scanned images, run OCR on it first' },
  'json-lines': { endings: ['.jsonl', '.ndjson'], hasColumns: true },
  csv: { endings: ['.csv'], hasColumns: true },
  tsv: { endings: ['.tsv'], hasColumns: true },
} as const satisfies Record<string, FormatFacts>;

/** How a file is read. */
export type Format = keyof typeof formats;

const byEnding: ReadonlyMap<string, Format> = new Map(
  Object.entries(formats).flatMap(([format, { endings }]) =>
    endings.map((ending): [string, Format] => [ending, format as Format]),
  ),
);

/** The format that a name promises; undefined for an unknown ending. */
export function formatOf(path: string): Format | undefined {
  return byEnding.get(extname(path).toLowerCase());
}

const factsOf = (path: string): FormatFacts => formats[formatOf(path) ?? 'text'];

/** Whether a mapping of columns applies to a file. */
export function hasColumns(path: string): boolean {
  return factsOf(path).hasColumns === true;
}

/** The reason why a file gives no records although it was read. */
export function noTextReason(path: string): string {
  const { textRemedy } = factsOf(path);
  return textRemedy === undefined ? 'has no text' : `has no text; ${textRemedy}`;
}
