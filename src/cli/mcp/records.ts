import { z } from 'zod';
import { placeOf } from '../ask/sources.js';
import { printableLine } from '../terminal/printable.js';
import type { Knowledge } from './knowledge.js';
import { cut } from './text.js';

/** Characters of a text in a list of records. `get` has the whole text. */
const longestText = 4000;

/** A record in results. */
export const recordSchema = z.object({
  storage: z.string().describe('Name of the storage.'),
  id: z.string().describe("The record's id, for `get`."),
  uri: z.string().describe('Its address as a resource.'),
  place: z.string().describe('Where it is: file, headings and page of a document. Cite this.'),
  text: z.string().describe('Its text.'),
  truncated: z.literal(true).optional().describe('The text is cut; `get` has all of it.'),
  metadata: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('Its metadata; integers beyond 2^53 as decimal strings.'),
});

export type ShownRecord = z.output<typeof recordSchema>;

interface RecordLike {
  readonly id: string;
  readonly text: string;
  readonly metadata?: object | undefined;
}

/** A record for a result. `whole`: with all of its text. */
export function shownRecord(
  knowledge: Knowledge,
  storage: string,
  { id, text, metadata }: RecordLike,
  whole = false,
): ShownRecord {
  const shown = whole ? text : cut(text, longestText);
  const plain = metadata && plainMetadata(metadata);
  return {
    ...{ storage, id, uri: recordUri(storage, id) },
    place: placeIn(knowledge, { storage, id, metadata: plain }),
    text: shown,
    ...(shown.length < text.length && { truncated: true as const }),
    ...(plain && { metadata: plain }),
  };
}

/** Metadata without bigints, which JSON does not have. */
function plainMetadata(metadata: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(metadata).map(([key, value]) => [key, typeof value === 'bigint' ? String(value) : value]),
  );
}

/** Where a record is, on one line. */
export function placeIn(
  knowledge: Knowledge,
  { storage, id, metadata }: { storage: string; id: string; metadata?: Record<string, unknown> | undefined },
): string {
  const source = { storage, id, ...(metadata && { metadata }) } as Parameters<typeof placeOf>[0];
  return printableLine(placeOf(source, (name) => knowledge.folderOf(name)));
}

/** The text of a list of records, for clients that show text. */
export function recordsText(records: readonly ShownRecord[]): string {
  return records
    .map(({ place, uri, text, truncated }, index) => {
      const more = truncated ? '\n(cut; get has the whole text)' : '';
      return `[${index + 1}] ${place}\n${uri}\n${text}${more}`;
    })
    .join('\n\n');
}

export const recordUri = (storage: string, id: string): string =>
  `lorekeep://${encoded(storage)}/${encoded(id)}`;

/** The storage and the id of an address; undefined if it is none. */
export function parseUri(uri: string): { storage: string; id: string } | undefined {
  const [, storage, id] = /^lorekeep:\/\/([^/]+)\/(.+)$/s.exec(uri) ?? [];
  if (storage === undefined || id === undefined) return undefined;
  try {
    return { storage: decodeURIComponent(storage), id: decodeURIComponent(id) };
  } catch {
    return undefined;
  }
}

/** Lone surrogates cannot be written in an address: they become U+FFFD. */
const encoded = (text: string) => encodeURIComponent(text.replace(/[\ud800-\udfff]/gu, '\ufffd'));
