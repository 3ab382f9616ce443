import { extname } from 'node:path';

/** How a file is read. */
export type Format = 'markdown' | 'html' | 'text' | 'pdf' | 'json-lines' | 'csv' | 'tsv';

const byEnding: Readonly<Record<string, Format>> = {
  '.md': 'markdown',
  '.markdown': 'markdown',
  '.mdx': 'markdown',
  '.html': 'html',
  '.htm': 'html',
  '.xhtml': 'html',
  '.txt': 'text',
  '.text': 'text',
  '.rst': 'text',
  '.adoc': 'text',
  '.org': 'text',
  '.pdf': 'pdf',
  '.jsonl': 'json-lines',
  '.ndjson': 'json-lines',
  '.csv': 'csv',
  '.tsv': 'tsv',
};

/** The format that a name promises; undefined for an unknown ending. */
export function formatOf(path: string): Format | undefined {
  return byEnding[extname(path).toLowerCase()];
}

/** Whether a mapping of columns applies to the files of a format. */
export function hasColumns(format: Format | undefined): boolean {
  return format === 'json-lines' || format === 'csv' || format === 'tsv';
}
