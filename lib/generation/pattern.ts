import { halfCharacterIn } from '../boundary/arguments.js';
import { type CodePoints, codePointsOf, complementOf, unionOf } from './languages/code-points.js';
import type { Language, Languages } from './languages/language.js';
import { propertySet } from './unicode-property.js';

/** Maximum number of repetitions in one quantifier, and of one with an assertion inside. */
const maxRepetitions = 10_000;
const maxAssertingRepetitions = 16;

/** Maximum number of Unicode properties in a schema, and the units of work that each takes at first, beside two for each range. */
const maxProperties = 16;
const propertyUnits = 750;

/** Units of work of a pattern, beside two for each character. */
const patternUnits = 45;

/** Deepest nesting of groups. */
const deepest = 100;

const digits = codePointsOf('0-9');
const word = codePointsOf('A-Z', 'a-z', '0-9', '_');
const blanks = unionOf([
  ...codePointsOf('\t-\r', ' ', '\u00a0', '\u1680', '\u2000-\u200a'),
  ...codePointsOf('\u2028', '\u2029', '\u202f', '\u205f', '\u3000', '\ufeff'),
]);
const lineEnds = codePointsOf('\n', '\r', '\u2028', '\u2029');
const classEscapes: Readonly<Record<string, CodePoints>> = {
  d: digits,
  D: complementOf(digits),
  w: word,
  W: complementOf(word),
  s: blanks,
  S: complementOf(blanks),
};
const controls: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13 };

type Node =
  | { readonly kind: 'set'; readonly set: CodePoints }
  | { readonly kind: 'sequence' | 'either'; readonly parts: readonly Node[] }
  | { readonly kind: 'repeat'; readonly part: Node; readonly least: number; readonly most: number }
  | { readonly kind: 'start' | 'end' }
  | { readonly kind: 'boundary'; readonly negated: boolean }
  | { readonly kind: 'ahead'; readonly part: Node; readonly negated: boolean };

/**
 * Returns the texts in which an ECMAScript pattern (with the flag u) matches somewhere, as JSON Schema asks. `refuse` is called
 * for look-behind, back-references, flags, and assertions inside of repetitions.
 */
export function patternLanguage(
  pattern: string,
  languages: Languages,
  refuse: (problem: string) => never,
): Language {
  const half = halfCharacterIn(pattern);
  if (half !== undefined) refuse(half);
  languages.work.spend(patternUnits + 2 * pattern.length);
  const node = new Parser([...pattern], languages, refuse).whole();
  return new Builder(languages, refuse).anywhere(node);
}

/** The kind of the character before a place, or the start of the text. */
type Before = 'start' | 'word' | 'other';

/** The rest of a match, up to the end of the text. */
interface Rest {
  /** Whether it depends on the character before it. */
  readonly looksBack: boolean;
  after(before: Before): Language;
}

/** Translates a pattern from its end to its start, so that assertions are intersections with the rest of the text. */
class Builder {
  readonly #languages: Languages;
  readonly #refuse: (problem: string) => never;

  constructor(languages: Languages, refuse: (problem: string) => never) {
    this.#languages = languages;
    this.#refuse = refuse;
  }

  anywhere(node: Node): Language {
    const { any } = this.#languages;
    const rest = this.#rest(node, { looksBack: false, after: () => any });
    return this.#followed(any, rest, 'start');
  }

  #rest(node: Node, next: Rest): Rest {
    const known = new Map<Before, Language>();
    return {
      looksBack: next.looksBack || looksBack(node),
      after: (before) => {
        const made = known.get(before) ?? this.#match(node, next, before);
        known.set(before, made);
        return made;
      },
    };
  }

  /** The texts that a node and then its rest match. */
  #match(node: Node, next: Rest, before: Before): Language {
    const languages = this.#languages;
    if (!asserts(node)) return this.#followed(this.#plain(node), next, before);
    switch (node.kind) {
      case 'start':
        return before === 'start' ? next.after(before) : languages.nothing;
      case 'end':
        return next.after(before).nullable ? languages.empty : languages.nothing;
      case 'boundary': {
        const letter = languages.sequence(languages.set(word), languages.any);
        const wanted = (before === 'word') === node.negated ? letter : languages.not(letter);
        return languages.both(wanted, next.after(before));
      }
      case 'ahead': {
        const rest = { looksBack: false, after: () => languages.any };
        const found = this.#match(node.part, rest, before);
        return languages.both(node.negated ? languages.not(found) : found, next.after(before));
      }
      case 'either':
        return languages.either(...node.parts.map((part) => this.#match(part, next, before)));
      case 'sequence':
        return node.parts.reduceRight((rest, part) => this.#rest(part, rest), next).after(before);
      case 'repeat':
        return this.#repeated(node, next, before);
      default:
        return this.#refuse('cannot be enforced');
    }
  }

  #repeated({ part, least, most }: Node & { kind: 'repeat' }, next: Rest, before: Before): Language {
    if (most > maxAssertingRepetitions)
      this.#refuse('an assertion inside of a repetition cannot be enforced');
    const optional: Node = { kind: 'either', parts: [part, { kind: 'sequence', parts: [] }] };
    let rest = next;
    for (let count = most; count > 0; count--) rest = this.#rest(count > least ? optional : part, rest);
    return rest.after(before);
  }

  #followed(language: Language, next: Rest, before: Before): Language {
    const { sequence, both, either, any, set } = bound(this.#languages);
    if (!next.looksBack) return sequence(language, next.after('other'));
    const ending = (last: CodePoints) => both(language, sequence(any, set(last)));
    return either(
      language.nullable ? next.after(before) : this.#languages.nothing,
      sequence(ending(word), next.after('word')),
      sequence(ending(complementOf(word)), next.after('other')),
    );
  }

  #plain(node: Node): Language {
    const languages = this.#languages;
    if (node.kind === 'set') return languages.set(node.set);
    if (node.kind === 'sequence') return languages.sequence(...node.parts.map((part) => this.#plain(part)));
    if (node.kind === 'either') return languages.either(...node.parts.map((part) => this.#plain(part)));
    if (node.kind === 'repeat') return languages.repeat(this.#plain(node.part), node.least, node.most);
    return this.#refuse('cannot be enforced');
  }
}

const bound = (languages: Languages) => ({
  sequence: languages.sequence.bind(languages),
  both: languages.both.bind(languages),
  either: languages.either.bind(languages),
  set: languages.set.bind(languages),
  any: languages.any,
});

const partsOf = (node: Node): readonly Node[] =>
  node.kind === 'sequence' || node.kind === 'either'
    ? node.parts
    : node.kind === 'repeat' || node.kind === 'ahead'
      ? [node.part]
      : [];

const known = { asserts: new WeakMap<Node, boolean>(), looksBack: new WeakMap<Node, boolean>() };

/** Whether a node has assertions. */
function asserts(node: Node): boolean {
  const found =
    known.asserts.get(node) ??
    (['start', 'end', 'boundary', 'ahead'].includes(node.kind) || partsOf(node).some(asserts));
  known.asserts.set(node, found);
  return found;
}

/** Whether a node has assertions about the character before it. */
function looksBack(node: Node): boolean {
  const found =
    known.looksBack.get(node) ?? (['start', 'boundary'].includes(node.kind) || partsOf(node).some(looksBack));
  known.looksBack.set(node, found);
  return found;
}

class Parser {
  readonly #characters: readonly string[];
  readonly #languages: Languages;
  readonly #refuse: (problem: string) => never;
  #at = 0;
  #depth = 0;

  constructor(characters: readonly string[], languages: Languages, refuse: (problem: string) => never) {
    this.#characters = characters;
    this.#languages = languages;
    this.#refuse = refuse;
  }

  whole(): Node {
    const node = this.#alternatives();
    if (this.#at < this.#characters.length) this.#refuse('a ( is missing');
    return node;
  }

  #alternatives(): Node {
    if (++this.#depth > deepest) this.#refuse(`its groups are nested deeper than ${deepest}`);
    const parts = [this.#sequence()];
    while (this.#take('|')) parts.push(this.#sequence());
    this.#depth--;
    return parts.length === 1 ? (parts[0] as Node) : { kind: 'either', parts };
  }

  #sequence(): Node {
    const parts: Node[] = [];
    for (let next = this.#peek(); next !== undefined && !'|)'.includes(next); next = this.#peek())
      parts.push(this.#quantified());
    return { kind: 'sequence', parts };
  }

  #quantified(): Node {
    const part = this.#atom();
    if (!'*+?{'.includes(this.#peek() ?? '-')) return part;
    const found = /^(?:([*+?])|\{(\d+)(,(\d*))?\})\??/.exec(this.#following(24));
    if (found === null) return part;
    this.#at += found[0].length;
    const [, mark, low, comma, high] = found;
    const infinite = Number.POSITIVE_INFINITY;
    if (mark !== undefined)
      return { kind: 'repeat', part, least: mark === '+' ? 1 : 0, most: mark === '?' ? 1 : infinite };
    const least = Number(low);
    const most = comma === undefined ? least : high === '' ? infinite : Number(high);
    if (Math.max(least, most === infinite ? 0 : most) > maxRepetitions)
      this.#refuse(`more than ${maxRepetitions} repetitions`);
    if (most < least) this.#refuse(`{${least},${most}} allows nothing`);
    return { kind: 'repeat', part, least, most };
  }

  #atom(): Node {
    const character = this.#next() as string;
    if (character === '(') return this.#group();
    if (character === '[') return { kind: 'set', set: this.#class() };
    if (character === '.') return { kind: 'set', set: complementOf(lineEnds) };
    if (character === '^') return { kind: 'start' };
    if (character === '$') return { kind: 'end' };
    if (character === '\\') return this.#escape();
    if ('*+?'.includes(character)) return this.#refuse(`"${character}" repeats nothing`);
    return { kind: 'set', set: codePointsOf(character) };
  }

  #group(): Node {
    const kind = /^\?(?:<?[=!]|:|P?<[A-Za-z_$][\w$]*>)/.exec(this.#following(200))?.[0] ?? '';
    if (kind === '' && this.#peek() === '?') this.#refuse(`(${this.#following(3)} cannot be enforced`);
    if (kind.startsWith('?<') && '=!'.includes(kind[2] ?? '')) this.#refuse('look-behind cannot be enforced');
    this.#at += kind.length;
    const part = this.#alternatives();
    if (!this.#take(')')) this.#refuse('a ) is missing');
    return kind === '?=' || kind === '?!' ? { kind: 'ahead', part, negated: kind === '?!' } : part;
  }

  #escape(): Node {
    const next = this.#peek();
    if (next === 'b' || next === 'B') {
      this.#at++;
      return { kind: 'boundary', negated: next === 'B' };
    }
    if (next !== undefined && /[1-9k]/.test(next)) this.#refuse('back-references cannot be enforced');
    // Anchors of Python, and of Rust, whose patterns Pydantic takes.
    if (next === 'A' || next === 'Z' || next === 'z') {
      this.#at++;
      return { kind: next === 'A' ? 'start' : 'end' };
    }
    return { kind: 'set', set: this.#escaped() };
  }

  /** The characters of an escape whose backslash was read. */
  #escaped(): CodePoints {
    const escaped = this.#next();
    if (escaped === undefined) return this.#refuse('it ends with a backslash');
    const known = classEscapes[escaped];
    if (known !== undefined) return known;
    const control = controls[escaped];
    if (control !== undefined) return [[control, control]];
    if (escaped === 'p' || escaped === 'P') return this.#property(escaped === 'P');
    const code = this.#codePoint(escaped);
    if (code !== undefined) return [[code, code]];
    if (/[A-Za-z0-9]/.test(escaped)) return this.#refuse(`\\${escaped} cannot be enforced`);
    return codePointsOf(escaped);
  }

  #codePoint(escaped: string): number | undefined {
    const rest = escaped + this.#following(24);
    const found =
      /^(?:x([0-9a-fA-F]{2})|u\{([0-9a-fA-F]{1,8})\}|u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|c([A-Za-z])|(0)(?!\d))/.exec(
        rest,
      );
    if (found === null) return undefined;
    this.#at += found[0].length - escaped.length;
    const [, short, braced, high, low, four, letter] = found;
    if (letter !== undefined) return (letter.codePointAt(0) ?? 0) % 32;
    if (high !== undefined && low !== undefined)
      return 0x10000 + ((Number.parseInt(high, 16) & 0x3ff) << 10) + (Number.parseInt(low, 16) & 0x3ff);
    const code = Number.parseInt(short ?? braced ?? four ?? '0', 16);
    return code > 0x10ffff ? this.#refuse('no such character') : code;
  }

  #property(negated: boolean): CodePoints {
    const found = /^\{([\w=]{1,60})\}/.exec(this.#following(64));
    const name = found?.[1];
    const { properties, work } = this.#languages;
    const isNew = name !== undefined && !properties.has(name);
    if (isNew && properties.add(name).size > maxProperties)
      this.#refuse(`more than ${maxProperties} Unicode properties in the schema`);
    const set = name === undefined ? undefined : propertySet(name);
    if (isNew) {
      work.spend(propertyUnits + 2 * (set?.length ?? 0));
      work.mayPause();
    }
    if (set === undefined) return this.#refuse('\\p{...} with the name of a Unicode property is expected');
    this.#at += found?.[0].length ?? 0;
    return negated ? complementOf(set) : set;
  }

  #class(): CodePoints {
    const negated = this.#take('^');
    const ranges: (readonly [number, number])[] = [];
    while (this.#peek() !== ']') {
      const from = this.#classAtom();
      if (this.#peek() !== '-' || this.#characters[this.#at + 1] === ']') {
        ranges.push(...from);
        continue;
      }
      this.#at++;
      const to = this.#classAtom();
      const [first, last] = [single(from), single(to)];
      if (first === undefined || last === undefined || last < first)
        return this.#refuse('a range of its classes cannot be enforced');
      ranges.push([first, last]);
    }
    this.#at++;
    const set = unionOf(ranges);
    return negated ? complementOf(set) : set;
  }

  #classAtom(): CodePoints {
    const character = this.#next();
    if (character === undefined) return this.#refuse('a ] is missing');
    if (character !== '\\') return codePointsOf(character);
    if (this.#take('b')) return [[8, 8]];
    return this.#escaped();
  }

  #following(count: number): string {
    return this.#characters.slice(this.#at, this.#at + count).join('');
  }

  #peek(): string | undefined {
    return this.#characters[this.#at];
  }

  #next(): string | undefined {
    return this.#characters[this.#at++];
  }

  #take(character: string): boolean {
    if (this.#peek() !== character) return false;
    this.#at++;
    return true;
  }
}

const single = (set: CodePoints) =>
  set.length === 1 && set[0]?.[0] === set[0]?.[1] ? set[0]?.[0] : undefined;
