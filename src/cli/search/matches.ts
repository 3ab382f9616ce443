import { type Tokenizer, tokenize } from '../../../lib/index.js';

/** A stretch of a text that a word of the query found: UTF-16 offsets, end exclusive. */
export interface Match {
  start: number;
  end: number;
  /** The word, as the tokenizer writes it. */
  term: string;
}

/** Text that is looked at: a record may have megabytes, and nobody reads a snippet from there. */
const longestText = 1_000_000;

/** What the tokenizers may make words of. Marks belong to the letter before. */
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

  /** In the order of the text, none overlapping. */
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

  /** A run of several words: letters parted by marks, or a script without spaces, cut into overlapping pairs. */
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

/** Overlapping pairs become one stretch. */
function extend(matches: Match[], next: Match): void {
  const last = matches.at(-1);
  if (last !== undefined && next.start < last.end) last.end = Math.max(last.end, next.end);
  else matches.push(next);
}
