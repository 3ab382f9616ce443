import { z } from 'zod';
import { countValues } from '../../base/schema/bounded.js';
import { printableLine } from '../../base/schema/printable.js';
import { placeOf } from '../../search/record-place.js';
import type { Knowledge } from './knowledge.js';
import { cut } from './text.js';

/** Characters of a text in a list of records. `get` has the whole text. */
const longestText = 4000;

/** Characters of a whole text, and of the records of one result: hosts read a result in one piece. */
export const longestWhole = 1_048_576;

/** Values and characters of the metadata of a record. */
const metadataLimits = { values: 2000, characters: 65_536 };

/** A record in results. */
export const recordSchema = z.object({
  storage: z.string().describe('Name of the storage.'),
  id: z.string().describe("The record's id, for `get`."),
  uri: z.string().describe('Its address as a resource.'),
  place: z.string().describe('Where it is: file, headings and page of a document. Cite this.'),
  text: z.string().describe('Its text.'),
  truncated: z
    .literal(true)
    .optional()
    .describe(
      'The text is cut, or the metadata is left out as it is too large; `get` has texts of up to 1,048,576 characters.',
    ),
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
  const shown = cut(text, whole ? longestWhole : longestText);
  const plain = metadata as Record<string, unknown> | undefined;
  const isLarge = plain !== undefined && exceeds(plain);
  return {
    ...{ storage, id, uri: recordUri(storage, id) },
    place: placeIn(knowledge, { storage, id, metadata: plain }),
    text: shown,
    ...((shown.length < text.length || isLarge) && { truncated: true as const }),
    ...(plain && !isLarge && { metadata: plain }),
  };
}

function exceeds(metadata: object): boolean {
  const { values, characters } = metadataLimits;
  const counted = countValues(metadata, values, characters);
  return counted.values > values || counted.characters > characters;
}

/** Where a record is, on one line. */
export function placeIn(
  knowledge: Knowledge,
  { storage, id, metadata }: { storage: string; id: string; metadata?: Record<string, unknown> | undefined },
): string {
  const folderOf = (name: string) => knowledge.storages.find((each) => each.name === name)?.folder;
  return printableLine(placeOf({ storage, id, metadata }, folderOf));
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

/** The storage and the id of an address; the id is empty if there is none. Undefined if it is no address of a record. */
export function parseUri(uri: string): { storage: string; id: string } | undefined {
  const [, storage, id = ''] = /^lorekeep:\/\/([^/]+)(?:\/(.*))?$/is.exec(uri) ?? [];
  if (storage === undefined) return undefined;
  try {
    return { storage: decodeURIComponent(storage), id: decodeURIComponent(id) };
  } catch {
    return undefined;
  }
}

/** Lone surrogates cannot be written in an address: they become U+FFFD. */
export const encoded = (text: string) => encodeURIComponent(text.replace(/[\ud800-\udfff]/gu, '\ufffd'));
