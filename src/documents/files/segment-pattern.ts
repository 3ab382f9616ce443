import { type PatternElement, piecesOf, RunPattern } from './run-pattern.js';

/** Most characters of a name. */
const longestName = 255;

/** Matches the characters of one name of a path. */
export class SegmentPattern implements PatternElement<readonly string[]> {
  readonly #pattern: RunPattern<string>;
  readonly steps: number;

  constructor(pattern: string) {
    this.#pattern = new RunPattern(piecesOf(elementsOf([...pattern])));
    this.steps = 1 + this.#pattern.steps(longestName);
  }

  matches(name: readonly string[]): boolean {
    return this.#pattern.matches(name);
  }
}

/** Any run of characters, or a test of one character. */
type Element = 'run' | PatternElement<string>;

const one = (matches: (character: string) => boolean, steps = 1): Element => ({ matches, steps });
const any = one(() => true);
const none = one(() => false);

function elementsOf(pattern: readonly string[]): Element[] {
  const elements: Element[] = [];
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at] as string;
    if (character === '*') {
      if (elements.at(-1) !== 'run') elements.push('run');
    } else if (character === '?') elements.push(any);
    else if (character === '[') {
      const set = characterSet(pattern, at + 1);
      // Git matches nothing with a set that is not closed.
      if (set === undefined) return [none];
      elements.push(one(set.test, set.end - at));
      at = set.end;
    } else {
      const literal = character === '\\' ? pattern[++at] : character;
      if (literal === undefined) return [none];
      elements.push(one((other) => other === literal));
    }
  }
  return elements;
}

const classes: Readonly<Record<string, RegExp>> = {
  alnum: /^[A-Za-z0-9]$/,
  alpha: /^[A-Za-z]$/,
  blank: /^[ \t]$/,
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the class of control characters
  cntrl: /^[\u0000-\u001f\u007f]$/,
  digit: /^[0-9]$/,
  graph: /^[!-~]$/,
  lower: /^[a-z]$/,
  print: /^[ -~]$/,
  punct: /^[!-/:-@[-`{-~]$/,
  space: /^[ \t\n\v\f\r]$/,
  upper: /^[A-Z]$/,
  xdigit: /^[0-9A-Fa-f]$/,
};

/** Returns the set that begins after a bracket, and the position of its closing bracket. */
function characterSet(
  pattern: readonly string[],
  begin: number,
): { test: (character: string) => boolean; end: number } | undefined {
  const negated = pattern[begin] === '!' || pattern[begin] === '^';
  const first = negated ? begin + 1 : begin;
  const tests: ((character: string) => boolean)[] = [];
  for (let at = first; at < pattern.length; at++) {
    if (pattern[at] === ']' && at > first) {
      return { end: at, test: (character) => tests.some((test) => test(character)) !== negated };
    }
    const named = namedClass(pattern, at);
    if (named !== undefined) {
      const known = classes[named.name];
      if (known === undefined) return undefined;
      tests.push((character) => known.test(character));
      at = named.end;
      continue;
    }
    if (pattern[at] === '\\') at++;
    const low = pattern[at];
    if (low === undefined) return undefined;
    let high = low;
    if (pattern[at + 1] === '-' && pattern[at + 2] !== undefined && pattern[at + 2] !== ']') {
      at += pattern[at + 2] === '\\' ? 3 : 2;
      high = pattern[at] ?? '';
    }
    tests.push((character) => character >= low && character <= high);
  }
  return undefined;
}

/** A class such as [:digit:] inside a set. */
function namedClass(pattern: readonly string[], at: number): { name: string; end: number } | undefined {
  if (pattern[at] !== '[' || pattern[at + 1] !== ':') return undefined;
  const end = pattern.indexOf(']', at + 2);
  if (end < 0 || pattern[end - 1] !== ':' || end - 1 < at + 2) return undefined;
  return { name: pattern.slice(at + 2, end - 1).join(''), end };
}
