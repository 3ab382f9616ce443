import { type Tokenizer, tokenize } from '../../../lib/index.js';

/** A range of a text that matches a word of the query: UTF-16 offsets, end exclusive. */
export interface Match {
  start: number;
  end: number;
  /** The token, as the tokenizer returns it. */
  term: string;
}

/** Length of the text that is scanned. A record may have megabytes, and snippets come from its beginning. */
const longestText = 1_000_000;

/** Characters that may form words. Marks belong to the letter before. */
const runs = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu;

/** Finds the words of a query in texts, with the tokenizer that indexed them. */
export class Matcher {
  readonly #terms: ReadonlySet<string>;
  readonly #tokenizer: Tokenizer;
  readonly #known = new Map<string, string[]>();

  constructor(query: string, tokenizer: Tokenizer) {
    this.#tokenizer = tokenizer;
    this.#terms = new Set(tokenize(query, tokenizer));
  }

  /** In text order, without overlaps. */
  find(text: string): Match[] {
    if (this.#terms.size === 0) return [];
    const matches: Match[] = [];
    for (const { 0: run, index } of text.slice(0, longestText).matchAll(runs)) {
      const tokens = this.#tokens(run);
      const [only] = tokens;
      if (tokens.length > 1) matches.push(...this.#findWithin(run, index));
      else if (only !== undefined && this.#terms.has(only)) {
        matches.push({ start: index, end: index + run.length, term: only });
      }
    }
    return matches;
  }

  /** Matches within a run of several tokens: letters separated by marks, or overlapping pairs of a script without spaces. */
  #findWithin(run: string, offset: number): Match[] {
    const matches: Match[] = [];
    const letters = [...run.matchAll(/[\p{L}\p{N}]\p{M}*/gu)];
    for (let first = 0; first < letters.length; first++) {
      for (const length of [letters.length - first, 2, 1]) {
        const last = letters[first + length - 1];
        const start = letters[first]?.index;
        if (last === undefined || start === undefined) continue;
        const [only, ...others] = this.#tokens(run.slice(start, last.index + last[0].length));
        if (only === undefined || others.length > 0 || !this.#terms.has(only)) continue;
        extend(matches, { start: offset + start, end: offset + last.index + last[0].length, term: only });
        break;
      }
    }
    return matches;
  }

  #tokens(run: string): string[] {
    const known = this.#known.get(run);
    if (known !== undefined) return known;
    const tokens = tokenize(run, this.#tokenizer);
    this.#known.set(run, tokens);
    return tokens;
  }
}

/** Merges overlapping ranges. */
function extend(matches: Match[], next: Match): void {
  const last = matches.at(-1);
  if (last !== undefined && next.start < last.end) last.end = Math.max(last.end, next.end);
  else matches.push(next);
}
