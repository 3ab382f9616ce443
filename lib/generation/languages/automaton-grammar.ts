import { isLastLoop, longestTexts, type State, shortestTexts, type Way } from './automaton.js';
import { type CodePoints, complementOf, intersectionOf, unionOf } from './code-points.js';

/** Where a text stands: as it is, or in a JSON string, where some characters are escaped. */
export type Writing = 'plain' | 'json';

const infinity = Number.POSITIVE_INFINITY;

/** Longest expression of a class that is repeated in a grammar, in characters. */
const longestInline = 120;
/** Deepest nesting of groups, and of states written within each other. */
const deepestGroup = 40;
const deepestState = 200;

/** Characters that JSON strings escape; DEL is one, as some readers refuse it. */
const escaped: CodePoints = [
  [0, 0x1f],
  [0x22, 0x22],
  [0x5c, 0x5c],
  [0x7f, 0x7f],
];
const surrogates: CodePoints = [[0xd800, 0xdfff]];
const characters = complementOf(surrogates);
const unescaped = complementOf(escaped);
const neverRaw = unionOf([...surrogates, ...escaped]);

/** The rules of a grammar that is being written. */
export interface Rules {
  /** Expressions of sets of characters, by their writing and their ranges. */
  readonly classes: Map<string, string>;
  /** Returns the name of a new rule, which must be defined. */
  reserve(): string;
  define(name: string, body: string): void;
}

/**
 * Returns a GBNF expression for the texts of an automaton that have at most `most` characters; there must be one. Yields after each
 * rule with the number of characters that it added.
 */
export function automatonGrammar(
  states: readonly State[],
  writing: Writing,
  rules: Rules,
  most = infinity,
): Generator<number, string> {
  return new Writer(states, writing, rules, most).whole();
}

/** The rule of a state and of the number of characters that may follow; infinite where all texts are short enough. */
interface Place {
  readonly at: number;
  readonly left: number;
  readonly name: string;
}

class Writer {
  readonly #states: readonly State[];
  readonly #writing: Writing;
  readonly #rules: Rules;
  readonly #most: number;
  /** Characters of the shortest and of the longest text from each state on, if texts are limited. */
  readonly #shortest: readonly number[];
  readonly #longest: readonly number[];
  /** How many other states lead to a state; if texts are limited, how many states. */
  readonly #sources: number[];
  /** By characters left, the names of states. */
  readonly #names = new Map<number, Map<number, string>>();
  /** Places whose rules are to be defined. */
  readonly #pending: Place[] = [];
  /** Expressions of classes. An automaton has one object for equal sets. */
  readonly #classes = new Map<CodePoints, string>();

  constructor(states: readonly State[], writing: Writing, rules: Rules, most: number) {
    this.#states = states;
    this.#writing = writing;
    this.#rules = rules;
    this.#most = most;
    this.#shortest = most === infinity ? [] : shortestTexts(states);
    this.#longest = most === infinity ? [] : longestTexts(states);
    this.#sources = states.map(() => 0);
    this.#countSources();
    // The start may be passed again.
    this.#sources[0] = Math.max(2, this.#sources[0] ?? 0);
  }

  #countSources(): void {
    for (let from = 0; from < this.#states.length; from++) {
      const { next } = this.#states[from] as State;
      for (let way = 0; way < next.length; way++) {
        const { to } = next[way] as Way;
        if (to !== from || this.#most !== infinity) this.#sources[to] = (this.#sources[to] ?? 0) + 1;
      }
    }
  }

  *whole(): Generator<number, string> {
    const start = this.#expression(0, this.#room(0, this.#most), 0, 0);
    yield start.length;
    for (let next = this.#pending.pop(); next !== undefined; next = this.#pending.pop()) {
      const body = this.#expression(next.at, next.left, 0, 0);
      this.#rules.define(next.name, body);
      yield body.length + next.name.length;
    }
    return start;
  }

  /** Returns how many characters may follow a state: `left`, or any number if none of its texts is longer. */
  #room(at: number, left: number): number {
    return left >= (this.#longest[at] ?? infinity) ? infinity : left;
  }

  /** The texts from a place on, in a group if there are alternatives. `groups`, `depth`: the nesting so far. */
  #expression(at: number, left: number, groups: number, depth: number): string {
    const state = this.#states[at] as State;
    const { accepts, next } = state;
    if (left === 0) return '""';
    const isEndless = left === infinity;
    const loops = isEndless || isLastLoop(state, at);
    let loop: CodePoints | undefined;
    const others: Way[] = [];
    for (let index = 0; index < next.length; index++) {
      const way = next[index] as Way;
      if (loops && way.to === at) loop = way.set;
      else if (isEndless || (this.#shortest[way.to] ?? infinity) < left) others.push(way);
    }
    const isGroup = others.length + Number(accepts) > 1;
    const options: string[] = [];
    for (let index = 0; index < others.length; index++) {
      const { to, set } = others[index] as Way;
      const rest = this.#reference(to, this.#room(to, left - 1), groups + Number(isGroup), depth + 1);
      options.push(rest === '' ? this.#character(set) : `${this.#character(set)} ${rest}`);
    }
    if (accepts) options.push('""');
    const body = isGroup ? `(${options.join(' | ')})` : (options[0] ?? '');
    if (loop === undefined) return body;
    const looped = `${this.#character(loop)}${isEndless ? '*' : `{0,${left}}`}`;
    return body === '""' ? looped : `${looped} ${body}`;
  }

  #reference(at: number, left: number, groups: number, depth: number): string {
    const { accepts, next } = this.#states[at] as State;
    if (accepts && (next.length === 0 || left === 0)) return '';
    // Where texts are limited, several numbers of characters lead to the places from which all are short enough.
    const isOnce = this.#sources[at] === 1 && (left !== infinity || this.#most === infinity);
    if (isOnce && groups < deepestGroup && depth < deepestState)
      return this.#expression(at, left, groups, depth);
    let names = this.#names.get(left);
    if (names === undefined) {
      names = new Map();
      this.#names.set(left, names);
    }
    const known = names.get(at);
    if (known !== undefined) return known;
    const name = this.#rules.reserve();
    names.set(at, name);
    this.#pending.push({ at, left, name });
    return name;
  }

  /** One character of a set, as it is written. */
  #character(set: CodePoints): string {
    const known = this.#classes.get(set);
    if (known !== undefined) return known;
    const key = `${this.#writing} ${set.join()}`;
    const expression = this.#rules.classes.get(key) ?? this.#written(set);
    this.#rules.classes.set(key, expression);
    this.#classes.set(set, expression);
    return expression;
  }

  #written(set: CodePoints): string {
    const ways = this.#ways(set);
    const expression = ways.length === 1 ? (ways[0] as string) : `(${ways.join(' | ')})`;
    if (expression.length <= longestInline) return expression;
    const name = this.#rules.reserve();
    this.#rules.define(name, expression);
    return name;
  }

  #ways(set: CodePoints): string[] {
    const writable = intersectionOf(set, characters);
    if (this.#writing === 'plain') return [characterClass(writable, surrogates)];
    const raw = intersectionOf(writable, unescaped);
    const ways = raw.length === 0 ? [] : [characterClass(raw, neverRaw)];
    const names = new Map<string, string[]>();
    for (const [first, last] of intersectionOf(writable, escaped))
      for (let codePoint = first; codePoint <= last; codePoint++) {
        const text =
          codePoint === 0x7f ? '\\u007f' : JSON.stringify(String.fromCodePoint(codePoint)).slice(1, -1);
        const [head, tail] = [text.slice(0, -1), text.slice(-1)];
        names.set(head, [...(names.get(head) ?? []), tail]);
      }
    for (const [head, tails] of names) ways.push(`(${JSON.stringify(head)} ${escapesOf(tails)})`);
    return ways;
  }
}

function escapesOf(tails: readonly string[]): string {
  const codePoints = unionOf(
    tails.map((tail) => [tail.codePointAt(0) ?? 0, tail.codePointAt(0) ?? 0] as const),
  );
  return characterClass(codePoints, []);
}

/** A class of GBNF; of two forms, the shorter. `others`: characters that are not in `set`, and that it must not have; half surrogates do not matter. */
function characterClass(set: CodePoints, others: CodePoints): string {
  const [first, ...more] = set;
  if (first !== undefined && more.length === 0 && first[0] === first[1]) return literal(first[0]);
  const body = set.map(rangeText).join('');
  const without = complementOf(unionOf([...set, ...others]));
  const rest = [...without, ...intersectionOf(others, characters)];
  if (rest.length === 0) return '.';
  const other = unionOf(rest).map(rangeText).join('');
  return other.length < body.length ? `[^${other}]` : `[${body}]`;
}

const literal = (codePoint: number) => (codePoint === 0x2d ? '"-"' : `"${characterText(codePoint)}"`);

function rangeText([first, last]: readonly [number, number]): string {
  if (first === last) return characterText(first);
  return `${characterText(first)}${last === first + 1 ? '' : '-'}${characterText(last)}`;
}

function characterText(codePoint: number): string {
  const character = String.fromCodePoint(codePoint);
  if (/[A-Za-z0-9 !#-,./:-@_`{-~]/.test(character) && !'[]^-\\"'.includes(character)) return character;
  const digits = codePoint.toString(16);
  if (codePoint < 0x100) return `\\x${digits.padStart(2, '0')}`;
  return codePoint < 0x10000 ? `\\u${digits.padStart(4, '0')}` : `\\U${digits.padStart(8, '0')}`;
}
