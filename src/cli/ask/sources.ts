import type { Citation, Source } from '../../client/index.js';
import { type FolderOf, placeOf } from '../../search/record-place.js';
import { wrapped } from '../terminal/lines.js';
import type { Screen } from '../terminal/screen.js';

const indent = '  ';

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

/** The folder of each storage that is one; undefined if none is. */
export function foldersOf(
  found: readonly { readonly storage?: string | undefined }[],
  folderOf: FolderOf,
): Record<string, string> | undefined {
  const names = [...new Set(found.map(({ storage }) => storage ?? ''))];
  const folders = names.flatMap((name) => {
    const folder = folderOf(name);
    return folder === undefined ? [] : [[name, folder]];
  });
  return folders.length === 0 ? undefined : Object.fromEntries(folders);
}
