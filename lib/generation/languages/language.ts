import {
  allCodePoints,
  type CodePoints,
  codePointsOf,
  holds,
  intersectionOf,
  unionOf,
} from './code-points.js';
import { TooMuchWork, type Work } from './work.js';

/** A set of texts, as an expression. Equal expressions of one `Languages` are one object. */
export type Language = { readonly id: number; readonly nullable: boolean } & (
  | { readonly kind: 'nothing' | 'empty' }
  | { readonly kind: 'set'; readonly set: CodePoints }
  | { readonly kind: 'sequence'; readonly first: Language; readonly rest: Language }
  | { readonly kind: 'either' | 'both'; readonly parts: readonly Language[] }
  | { readonly kind: 'not'; readonly part: Language }
  | { readonly kind: 'repeat'; readonly part: Language; readonly least: number; readonly most: number }
  | { readonly kind: 'multiple'; readonly of: Multiple }
);

/** Decimal digits whose number, with `places` more digits behind it, is a multiple. */
export interface Multiple {
  /** At most `largestModulus`. */
  readonly modulus: number;
  readonly rest: number;
  /** Digits that may follow; before the point, digits that may follow it. */
  readonly places: number;
  readonly behindPoint: boolean;
}

/** Ten times as much is exact. */
export const largestModulus = 1e14;

/** Limit of one schema. */
const maxExpressions = 200_000;

/** Units of work: of a new expression, of a union or an intersection, and of a derivative of a complement or a multiple. */
const expressionUnits = 2;
const unionUnits = 1;
const complementUnits = 1;
const multipleUnits = 1.5;
/** Characters of a key and of a text that is matched in one unit, as powers of two, and of a text. */
const keyShift = 5;
const matchShift = 3;
const textCharacters = 2;

const infinity = Number.POSITIVE_INFINITY;

/** The characters that a multiple is written with, each alone. */
const multipleSets: readonly CodePoints[] = [...'0123456789.'].map((character) => codePointsOf(character));

/**
 * Builds expressions and their derivatives (Brzozowski, 1964): the derivative of a language by a character are the rests of
 * its texts that begin with the character. Intersection and complement need no automaton.
 */
export class Languages {
  readonly work: Work;
  readonly #known = new Map<string, Language>();
  /** By the numbers of both parts. */
  readonly #sequences = new Map<number, Language>();
  #expressions = 0;
  readonly #ofSets = new Map<CodePoints, Language>();
  readonly #ofCharacters = new Map<number, Language>();
  /** By the character and the number of the expression. */
  readonly #derivatives = new Map<number, Language>();
  /** By the number of the expression. */
  readonly #firstSets: (readonly CodePoints[] | undefined)[] = [];
  /** Names of the Unicode properties in its expressions. */
  readonly properties = new Set<string>();
  readonly nothing: Language;
  readonly empty: Language;
  readonly character: Language;
  readonly any: Language;
  readonly some: Language;

  constructor(work: Work) {
    this.work = work;
    this.nothing = this.#intern('0', { kind: 'nothing', nullable: false });
    this.empty = this.#intern('1', { kind: 'empty', nullable: true });
    this.character = this.set(allCodePoints);
    this.any = this.repeat(this.character, 0, infinity);
    this.some = this.repeat(this.character, 1, infinity);
  }

  #intern(key: string, expression: object): Language {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    this.work.spend(key.length >> keyShift);
    const made = this.#numbered(expression);
    this.#known.set(key, made);
    return made;
  }

  #numbered(expression: object): Language {
    if (this.#expressions >= maxExpressions) throw new TooMuchWork('takes too much work');
    this.work.spend(expressionUnits);
    const made = expression as { id?: number };
    made.id = this.#expressions++;
    return made as Language;
  }

  set(set: CodePoints): Language {
    if (set.length === 0) return this.nothing;
    const known = this.#ofSets.get(set);
    if (known !== undefined) return known;
    const made = this.#intern(`c${set.join(';')}`, { kind: 'set', set, nullable: false });
    this.#ofSets.set(set, made);
    return made;
  }

  #single(character: string): Language {
    const codePoint = character.codePointAt(0) ?? 0;
    const made = this.#ofCharacters.get(codePoint) ?? this.set([[codePoint, codePoint]]);
    this.#ofCharacters.set(codePoint, made);
    return made;
  }

  text(text: string): Language {
    return this.texts([text]);
  }

  /** The language of some texts; those that begin alike share expressions. */
  texts(texts: readonly string[]): Language {
    const distinct = [...new Set(texts)];
    for (const { length } of distinct) this.work.spend(Math.ceil(length / textCharacters));
    if (distinct.length === 0) return this.nothing;
    return this.#trie(
      distinct.map((text) => [...text]),
      0,
    );
  }

  /** The rests of texts from a place on, up to which they are alike. */
  #trie(texts: readonly (readonly string[])[], from: number): Language {
    const [first = []] = texts;
    let to = from;
    while (to < first.length && texts.every((text) => text[to] === first[to])) to++;
    const groups = new Map<string | undefined, (readonly string[])[]>();
    for (const text of texts) {
      const known = groups.get(text[to]);
      if (known === undefined) groups.set(text[to], [text]);
      else known.push(text);
    }
    const rests = [...groups].map(([next, group]) =>
      next === undefined ? this.empty : this.#trie(group, to),
    );
    let rest = this.either(...rests);
    for (const character of first.slice(from, to).toReversed())
      rest = this.#followed(this.#single(character), rest);
    return rest;
  }

  sequence(...parts: readonly Language[]): Language {
    let rest: Language = this.empty;
    for (const part of parts.toReversed()) rest = this.#followed(part, rest);
    return rest;
  }

  #followed(first: Language, rest: Language): Language {
    if (first === this.nothing || rest === this.nothing) return this.nothing;
    if (first === this.empty) return rest;
    if (rest === this.empty) return first;
    if (first.kind === 'sequence') return this.#followed(first.first, this.#followed(first.rest, rest));
    const key = first.id * maxExpressions + rest.id;
    const known = this.#sequences.get(key);
    if (known !== undefined) return known;
    const nullable = first.nullable && rest.nullable;
    const made = this.#numbered({ kind: 'sequence', first, rest, nullable });
    this.#sequences.set(key, made);
    return made;
  }

  either(...parts: readonly Language[]): Language {
    const all: Language[] = [];
    const sets: CodePoints[] = [];
    let members = 0;
    for (let index = 0; index < parts.length; index++) {
      const part = parts[index] as Language;
      if (part === this.any) return this.any;
      const own = part.kind === 'either' ? part.parts : undefined;
      members += own?.length ?? 1;
      if (own === undefined) addMember(part, all, sets);
      else for (let each = 0; each < own.length; each++) addMember(own[each] as Language, all, sets);
    }
    this.work.spend(unionUnits + (members >> 2));
    if (sets.length > 0)
      all.push(this.set(sets.length === 1 ? (sets[0] as CodePoints) : unionOf(sets.flat())));
    const sorted = distinct(all);
    if (sorted.length < 2) return sorted[0] ?? this.nothing;
    return this.#intern(`e${idsOf(sorted)}`, {
      kind: 'either',
      parts: sorted,
      nullable: sorted.some(isNullable),
    });
  }

  both(...parts: readonly Language[]): Language {
    const [one, other] = parts;
    const isPair = one !== undefined && other !== undefined && parts.length === 2 && one !== other;
    return isPair && isOfPair(one) && isOfPair(other) ? this.#pair(one, other) : this.#intersection(parts);
  }

  #pair(one: Language, other: Language): Language {
    this.work.spend(unionUnits);
    if (one === this.nothing || other === this.nothing) return this.nothing;
    if (one === this.any) return other;
    if (other === this.any) return one;
    const nullable = one.nullable && other.nullable;
    if (one === this.empty || other === this.empty) return nullable ? this.empty : this.nothing;
    if (other.kind === 'multiple' && hasAllDigits(one, other.of)) return other;
    if (one.kind === 'multiple' && hasAllDigits(other, one.of)) return one;
    return this.#conjunction(one.id < other.id ? [one, other] : [other, one]);
  }

  /** The expression of an intersection; `parts` are at least two, sorted by their numbers, and none of them simplifies beside another. */
  #conjunction(parts: readonly Language[]): Language {
    return this.#intern(`b${idsOf(parts)}`, { kind: 'both', parts, nullable: parts.every(isNullable) });
  }

  #intersection(parts: readonly Language[]): Language {
    const members: Language[] = [];
    for (let index = 0; index < parts.length; index++) {
      const part = parts[index] as Language;
      if (part.kind === 'both') for (const member of part.parts) members.push(member);
      else members.push(part);
    }
    this.work.spend(unionUnits + (members.length >> 2));
    const all: Language[] = [];
    let set: CodePoints | undefined;
    for (let index = 0; index < members.length; index++) {
      const part = members[index] as Language;
      if (part === this.nothing) return this.nothing;
      if (part.kind === 'set') set = set === undefined ? part.set : intersectionOf(set, part.set);
      else if (part !== this.any) all.push(part);
    }
    if (set !== undefined) all.push(this.set(set));
    if (all.includes(this.nothing)) return this.nothing;
    const sorted = distinct(all);
    const nullable = sorted.every(isNullable);
    if (sorted.includes(this.empty)) return nullable ? this.empty : this.nothing;
    if (sorted.length < 2) return sorted[0] ?? this.any;
    return this.#conjunction(sorted);
  }

  not(part: Language): Language {
    if (part.kind === 'not') return part.part;
    if (part === this.nothing) return this.any;
    if (part === this.any) return this.nothing;
    return this.#intern(`n${part.id}`, { kind: 'not', part, nullable: !part.nullable });
  }

  repeat(part: Language, least: number, most: number): Language {
    if (most === 0 || part === this.empty) return this.empty;
    if (part === this.nothing) return least === 0 ? this.empty : this.nothing;
    if (least === 1 && most === 1) return part;
    if (part.kind === 'repeat' && part.least === 0 && part.most === infinity) return part;
    const from = part.nullable ? 0 : least;
    const key = `r${part.id},${from},${most}`;
    return this.#intern(key, { kind: 'repeat', part, least: from, most, nullable: from === 0 });
  }

  optional(part: Language): Language {
    return this.either(this.empty, part);
  }

  multiple(of: Multiple): Language {
    let rest = of.rest;
    for (let place = 0; place < of.places && rest !== 0; place++) rest = (rest * 10) % of.modulus;
    const nullable = rest === 0;
    const key = `m${of.modulus},${of.rest},${of.places},${of.behindPoint}`;
    return this.#intern(key, { kind: 'multiple', of, nullable });
  }

  /** Takes the maximum lengths from an intersection: its other members, and the least of the lengths, which may be infinite. */
  withoutMaximum(language: Language): { unlimited: Language; most: number } {
    const parts = language.kind === 'both' ? language.parts : [];
    const others: Language[] = [];
    let [least, most] = [0, infinity];
    for (const part of parts)
      if (part.kind !== 'repeat' || part.part !== this.character || part.most === infinity) others.push(part);
      else [least, most] = [Math.max(least, part.least), Math.min(most, part.most)];
    if (most === infinity) return { unlimited: language, most };
    return { unlimited: this.both(...others, this.repeat(this.character, least, infinity)), most };
  }

  /** The texts t such that `character` followed by t is in the language. */
  derivative(language: Language, character: number): Language {
    // The derivatives of sets, and of what begins with one, are found faster than looked up.
    if (language.kind === 'set') return holds(language.set, character) ? this.empty : this.nothing;
    if (language.kind === 'sequence' && language.first.kind === 'set')
      return holds(language.first.set, character) ? language.rest : this.nothing;
    const key = character * maxExpressions + language.id;
    const known = this.#derivatives.get(key);
    if (known !== undefined) return known;
    const made = this.#derive(language, character);
    this.#derivatives.set(key, made);
    return made;
  }

  #derive(language: Exclude<Language, { kind: 'set' }>, character: number): Language {
    switch (language.kind) {
      case 'nothing':
      case 'empty':
        return this.nothing;
      case 'sequence': {
        const begun = this.#followed(this.derivative(language.first, character), language.rest);
        return language.first.nullable
          ? this.either(begun, this.derivative(language.rest, character))
          : begun;
      }
      case 'either':
        return this.#eitherDerivative(language.parts, character);
      case 'both':
        return this.both(...this.#derivativesOf(language.parts, character));
      case 'not':
        this.work.spend(complementUnits);
        return this.not(this.derivative(language.part, character));
      case 'repeat': {
        const { part, least, most } = language;
        const rest = this.repeat(part, Math.max(0, least - 1), most - 1);
        return this.#followed(this.derivative(part, character), rest);
      }
      case 'multiple':
        this.work.spend(multipleUnits);
        return this.#nextDigit(language.of, character);
    }
  }

  /** Few alternatives begin with one character: the others are no members of a union. */
  #eitherDerivative(parts: readonly Language[], character: number): Language {
    this.work.spend(unionUnits + (parts.length >> 2));
    const all: Language[] = [];
    for (let index = 0; index < parts.length; index++) {
      const rest = this.derivative(parts[index] as Language, character);
      if (rest !== this.nothing) all.push(rest);
    }
    return all.length < 2 ? (all[0] ?? this.nothing) : this.either(...all);
  }

  #derivativesOf(parts: readonly Language[], character: number): Language[] {
    const all: Language[] = [];
    for (let index = 0; index < parts.length; index++)
      all.push(this.derivative(parts[index] as Language, character));
    return all;
  }

  #nextDigit(of: Multiple, character: number): Language {
    if (character === 0x2e)
      return of.behindPoint || of.places === 0 ? this.nothing : this.multiple({ ...of, behindPoint: true });
    if (character < 0x30 || character > 0x39 || (of.behindPoint && of.places === 0)) return this.nothing;
    const rest = (of.rest * 10 + character - 0x30) % of.modulus;
    return this.multiple({ ...of, rest, places: of.places - (of.behindPoint ? 1 : 0) });
  }

  /** Sets of characters: two characters that are in the same ones have the same derivative. */
  firstSets(language: Language): readonly CodePoints[] {
    const known = this.#firstSets[language.id];
    if (known !== undefined) return known;
    const made = this.#findFirstSets(language);
    this.#firstSets[language.id] = made;
    return made;
  }

  #findFirstSets(language: Language): readonly CodePoints[] {
    switch (language.kind) {
      case 'nothing':
      case 'empty':
        return [];
      case 'set':
        return [language.set];
      case 'sequence':
        return this.#firstSetsOf(
          language.first.nullable ? [language.first, language.rest] : [language.first],
        );
      case 'either':
      case 'both':
        return this.#firstSetsOf(language.parts);
      case 'not':
      case 'repeat':
        return this.firstSets(language.part);
      case 'multiple':
        return multipleSets;
    }
  }

  #firstSetsOf(parts: readonly Language[]): readonly CodePoints[] {
    if (parts.length === 1) return this.firstSets(parts[0] as Language);
    const all = new Set<CodePoints>();
    let members = 0;
    for (let index = 0; index < parts.length; index++) {
      const sets = this.firstSets(parts[index] as Language);
      members += sets.length;
      for (let each = 0; each < sets.length; each++) all.add(sets[each] as CodePoints);
    }
    this.work.spend(members >> 3);
    return [...all];
  }

  matches(language: Language, text: string): boolean {
    this.work.spend(text.length >> matchShift);
    let rest = language;
    for (const character of text) rest = this.derivative(rest, character.codePointAt(0) ?? 0);
    return rest.nullable;
  }
}

/** Whether an expression stays as it is beside another one in an intersection. */
const isOfPair = ({ kind }: Language) => kind !== 'set' && kind !== 'both';

/** Whether a language has every text that an integer multiple may have. */
function hasAllDigits(language: Language, { places }: Multiple): boolean {
  if (places > 0 || language.kind !== 'repeat' || language.part.kind !== 'set') return false;
  const { part, least, most } = language;
  return least === 0 && most === infinity && part.set.some(([first, last]) => first <= 0x30 && last >= 0x39);
}

/** Adds a member of a union to the sets or to the others. */
function addMember(part: Language, others: Language[], sets: CodePoints[]): void {
  if (part.kind === 'set') sets.push(part.set);
  else if (part.kind !== 'nothing') others.push(part);
}

const isNullable = ({ nullable }: Language) => nullable;
const byNumber = (one: Language, other: Language) => one.id - other.id;

/** Sorts some expressions by their numbers, and leaves out those that are there already. */
function distinct(all: Language[]): Language[] {
  if (all.length < 2) return all;
  all.sort(byNumber);
  let kept = 1;
  for (let index = 1; index < all.length; index++)
    if (all[index] !== all[index - 1]) all[kept++] = all[index] as Language;
  all.length = kept;
  return all;
}

function idsOf(all: readonly Language[]): string {
  let ids = String(all[0]?.id);
  for (let index = 1; index < all.length; index++) ids += `,${(all[index] as Language).id}`;
  return ids;
}

/** The sets of characters of an expression. @throws TooMuchWork */
export function setsOf(language: Language, work: Work): CodePoints[] {
  const sets = new Set<CodePoints>();
  const seen = new Set<Language>();
  const open = [language];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    if (next.kind === 'set') sets.add(next.set);
    else if (next.kind === 'sequence') open.push(next.first, next.rest);
    else if (next.kind === 'either' || next.kind === 'both') open.push(...next.parts);
    else if (next.kind === 'not' || next.kind === 'repeat') open.push(next.part);
    else if (next.kind === 'multiple') for (const set of multipleSets) sets.add(set);
  }
  work.spend(seen.size >> 1);
  return [...sets];
}
