import { columns } from './columns.js';
import { wrapPieces } from './pieces.js';
import { printableLine } from './printable.js';

/** The lines of a text, without its line feeds, each of at most `width` columns with its indentation. */
export function wrapped(text: string, width: number, first: string, other = first): string[] {
  const line = printableLine(text);
  if (columns(first) + columns(line) <= width) return [first + line];
  const room = Math.max(1, width - Math.max(columns(first), columns(other)));
  return wrapPieces([{ text: line, match: false }], room, 0).map(
    (pieces, index) => (index === 0 ? first : other) + pieces.map((piece) => piece.text).join(''),
  );
}

/** The lines of a fact whose name is padded to `nameColumns`; on a narrow screen its value is indented less. */
export function wrappedFact(fact: string, limit: number, nameColumns: number): string[] {
  const indent = Math.min(nameColumns, Math.max(2, Math.floor(limit / 4)));
  const name = fact.slice(0, nameColumns);
  if (columns(fact) <= limit) return [fact];
  const value = fact.slice(nameColumns);
  if (indent === nameColumns) return wrapped(value, limit, name, ' '.repeat(indent));
  return [name.trimEnd(), ...wrapped(value, limit, ' '.repeat(indent))];
}
