/** Shows where a text matches a query. */
import { highlight as at, textHighlights as head } from '../boundary/layout.gen.js';

/** A part of a snippet. */
export interface SnippetPart {
  /** Part of the snippet. */
  text: string;
  /** Whether the query matches it. */
  match: boolean;
}

/** A match in a text, in UTF-16 code units. */
interface Match {
  begin: number;
  end: number;
}

const omitted = '…';

/** The matches of a text, or those in its best part, which begins and ends there. */
interface Highlights {
  matches: readonly Match[];
  begin: number;
  end: number;
}

/** Reads the matches of one text after the other from the addon's numbers. */
export class MatchReader {
  readonly #numbers: Uint32Array;
  #next = 0;

  constructor(numbers: Uint32Array) {
    this.#numbers = numbers;
  }

  /** The matches of the next text. */
  read(): Highlights {
    const number = (position: number) => this.#numbers[this.#next + position] as number;
    const found = { matches: [] as Match[], begin: number(head.begin), end: number(head.end) };
    const count = number(head.matches);
    this.#next += head.numbers;
    for (let match = 0; match < count; match++, this.#next += at.numbers)
      found.matches.push({ begin: number(at.begin), end: number(at.end) });
    return found;
  }
}

/** Returns the best part of a text, cut between words. */
export function snippetOf(text: string, highlights: Highlights): SnippetPart[] {
  const { matches } = highlights;
  const isWhole = highlights.begin === 0 && highlights.end === text.length;
  const [begin, end] = isWhole ? [0, text.length] : betweenWords(text, highlights);
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

/** Text beside the matches of a part that whole words may take from it. */
const leadIn = 40;

/** Narrows a part to whole words, unless a match would be cut or most of it lost. */
function betweenWords(text: string, { begin, end, matches }: Highlights): [number, number] {
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
