import { join } from 'node:path';
import type { Citation, Source } from '../../client/index.js';
import { columns } from '../terminal/columns.js';
import { wrapPieces } from '../terminal/pieces.js';
import { printableLine } from '../terminal/printable.js';
import type { Screen } from '../terminal/screen.js';

const indent = '  ';

/** Returns the folder whose documents a storage has, as the user names it; undefined for a knowledge base. */
export type FolderOf = (storage: string) => string | undefined;

/** The lines under a reply: each record behind it, where it is, and its sentence. */
export function sourceLines(sources: readonly Source[], width: number, folderOf: FolderOf): string[] {
  if (sources.length === 0) return [];
  const some = sources.some(({ cited }) => cited);
  const note = some ? '' : ' (the reply marks none of them)';
  return [
    ...wrapped(`sources${note}:`, width, ''),
    ...sources.flatMap((source) => {
      const { number, sentence, cited } = source;
      const label = `${number === undefined ? '-' : `[${number}]`} `;
      const state = some && !cited ? ' (not cited)' : '';
      const under = ' '.repeat(label.length);
      return [
        ...wrapped(`${placeOf(source, folderOf)}${state}`, width, indent + label, indent + under),
        ...(sentence === undefined ? [] : wrapped(`"${sentence.text}"`, width, indent + under)),
      ];
    }),
  ];
}

/** The lines of quoted sentences, each with its place below; sentences of one record that follow each other share it. */
export function quoteLines(
  text: string,
  citations: readonly Citation[],
  screen: Screen,
  folderOf: FolderOf,
): string[] {
  return citations.flatMap((citation, index) => {
    const next = citations[index + 1];
    const goesOn = next !== undefined && next.id === citation.id && next.storage === citation.storage;
    const place = goesOn ? [] : wrapped(placeOf(citation, folderOf), screen.width, indent);
    return [
      ...wrapped(text.slice(citation.replyStart, citation.replyEnd), screen.width, ''),
      ...place.map((line) => screen.dim(line)),
    ];
  });
}

/** Where a record is: path, headings and page of a document, else its id and storage. */
export function placeOf(
  { id, storage, metadata = {} }: Pick<Source, 'id' | 'storage' | 'metadata'>,
  folderOf: FolderOf,
): string {
  const { path: within, heading, page } = metadata;
  if (typeof within !== 'string') return `${id} (${storage})`;
  const folder = folderOf(storage);
  const path = folder === undefined ? within : join(folder, within);
  const above = typeof heading === 'string' && heading !== '' ? ` > ${heading}` : '';
  return `${path}${above}${page === undefined ? '' : `, page ${page}`}`;
}

/** The lines of a text, without its line feeds. */
function wrapped(text: string, width: number, first: string, other = first): string[] {
  const room = Math.max(1, width - columns(first));
  return wrapPieces([{ text: printableLine(text), match: false }], room, 0).map(
    (line, index) => (index === 0 ? first : other) + line.map((piece) => piece.text).join(''),
  );
}
