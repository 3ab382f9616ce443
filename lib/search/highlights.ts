/** Shows where a text matches a query. */
import { highlight as at } from '../boundary/layout.gen.js';

/** A part of a snippet. */
export interface SnippetPart {
  /** Part of the snippet. */
  text: string;
  /** Whether the query matches it. */
  match: boolean;
}

/** A match in a text, in UTF-16 code units, and the number of the query's clause. */
interface Match {
  begin: number;
  end: number;
  clause: number;
}

/** Longest snippet, without the marks of omitted text. */
const snippetLength = 240;
/** Text before the first match of a snippet. */
const leadIn = 40;
const omitted = '…';

/** Reads the matches of one text after the other from the addon's numbers. */
export class MatchReader {
  readonly #numbers: Uint32Array;
  #next = 0;

  constructor(numbers: Uint32Array) {
    this.#numbers = numbers;
  }

  /** The matches of the next text. */
  read(): Match[] {
    const matches: Match[] = [];
    const number = (position: number) => this.#numbers[this.#next + position] as number;
    const end = this.#next + 1 + number(0) * at.numbers;
    for (this.#next++; this.#next < end; this.#next += at.numbers)
      matches.push({ begin: number(at.begin), end: number(at.end), clause: number(at.clause) });
    return matches;
  }
}

/** Returns the part of the text that matches most clauses, then most often, cut between words. */
export function snippetOf(text: string, matches: readonly Match[]): SnippetPart[] {
  const [begin, end] = text.length <= snippetLength ? [0, text.length] : bestWindow(text, matches);
  const parts: SnippetPart[] = [];
  const add = (part: string, match: boolean) => {
    if (part !== '') parts.push({ text: part, match });
  };
  if (begin > 0) add(omitted, false);
  let at = begin;
  for (const match of matches) {
    if (match.begin < begin || match.end > end) continue;
    add(text.slice(at, match.begin), false);
    add(text.slice(match.begin, match.end), true);
    at = match.end;
  }
  add(text.slice(at, end), false);
  if (end < text.length) add(omitted, false);
  return parts;
}

function bestWindow(text: string, matches: readonly Match[]): [number, number] {
  let best: [number, number] = [0, snippetLength];
  let most = -1;
  /** The matches [first, next) are in the window; how many of each clause. */
  const inside = new Map<number, number>();
  let next = 0;
  for (const [first, match] of matches.entries()) {
    const begin = Math.max(0, Math.min(match.begin - leadIn, text.length - snippetLength));
    for (; next < matches.length && (matches[next] as Match).end <= begin + snippetLength; next++) {
      const { clause } = matches[next] as Match;
      inside.set(clause, (inside.get(clause) ?? 0) + 1);
    }
    const value = inside.size * snippetLength + Math.max(0, next - first);
    if (value > most) {
      most = value;
      best = [begin, begin + snippetLength];
    }
    if (next <= first) {
      next = first + 1;
      continue;
    }
    const left = (inside.get(match.clause) ?? 0) - 1;
    if (left > 0) inside.set(match.clause, left);
    else inside.delete(match.clause);
  }
  return betweenWords(text, best, matches);
}

/** Narrows a window to whole words, unless a match would be cut or most of it lost. */
function betweenWords(
  text: string,
  [begin, end]: [number, number],
  matches: readonly Match[],
): [number, number] {
  const inside = matches.filter((match) => match.begin >= begin && match.end <= end);
  const first = inside[0]?.begin ?? begin + leadIn;
  const last = inside.at(-1)?.end ?? end - leadIn;
  let from = begin;
  if (begin > 0) {
    const blank = text.slice(begin, first).search(/\s/);
    from = blank < 0 ? onCharacter(text, begin) : begin + blank + 1;
  }
  let to = end;
  if (end < text.length) {
    const blank = text.slice(last, end + 1).search(/\s\S*$/);
    to = blank < 0 ? onCharacter(text, end) : last + blank;
  }
  return [from, to];
}

/** Moves a position off the middle of a surrogate pair. */
function onCharacter(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff ? at - 1 : at;
}
