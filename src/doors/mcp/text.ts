import { didYouMean, nearestName } from '../../base/schema/nearest.js';
import { printableLine } from '../../base/schema/printable.js';
import { terminalControl, unicodeEscape } from '../../base/schema/terminal-control.js';

/** A text on one line, without terminal control, of at most `most` characters. */
export function printableWithin(text: string, most: number): string {
  // Cut first: a text has no bound, and a replacement never makes it longer.
  const line = printableLine(text.slice(0, most * 4));
  if (line.length <= most && text.length <= most * 4) return line;
  return `${cut(line, most - 1)}…`;
}

/** The first `most` characters, without half of a surrogate pair. */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  const end = /[\ud800-\udbff]/.test(text[most - 1] ?? '') ? most - 1 : most;
  return text.slice(0, end);
}

/** Joins as many items as fit into `most` characters, and says how many are left out. */
export function listWithin(items: readonly string[], most: number, separator = ', '): string {
  let text = '';
  for (const [index, item] of items.entries()) {
    const next = index === 0 ? item : `${separator}${item}`;
    if (index > 0 && text.length + next.length > most)
      return `${text}${separator}and ${items.length - index} more`;
    text += next;
  }
  return text;
}

/** A text as a JSON string on one line, exact unless it is longer than `most`. */
export const jsonWithin = (text: string, most: number): string =>
  JSON.stringify(text.length > most ? `${cut(text, most - 1)}…` : text).replace(
    terminalControl,
    unicodeEscape,
  );

/** The name of a field; one with other white space than single spaces, or with control characters, as a JSON string. */
export const fieldName = (name: string, most: number): string =>
  printableLine(name) === name ? printableWithin(name, most) : jsonWithin(name, most);

/** A name as a JSON string, on one line. A longer one is cut. */
export const quotedWithin = (name: string, most: number): string =>
  JSON.stringify(printableWithin(name, most));

/** Longest list of names in a refusal, in characters. */
const longestNames = 400;

/** Longest name that is shown, in characters. */
export const longestName = 100;

/** The sentence about a name that nothing has: with the nearest known name, or with those that there are. */
export function unknownName(kind: string, name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known);
  const hint = nearest === undefined ? `; there is ${namesWithin(known)}` : didYouMean(nearest);
  return `there is no ${kind} ${quotedWithin(name, longestName)}${hint}`;
}

/** Names for a message. */
export const namesWithin = (names: readonly string[]): string =>
  listWithin(
    names.map((name) => quotedWithin(name, longestName)),
    longestNames,
  ) || 'none';
