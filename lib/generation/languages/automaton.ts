import { type CharacterClass, type CodePoints, classesOf, unionOf } from './code-points.js';
import { type Language, type Languages, setsOf } from './language.js';
import { TooMuchWork } from './work.js';

/** A state of a deterministic automaton without states from which no text ends. */
export interface State {
  readonly accepts: boolean;
  /** Targets by number, with the characters that lead there. */
  readonly next: ReadonlyMap<number, CodePoints>;
}

const infinity = Number.POSITIVE_INFINITY;

/** Limits of one automaton. */
const maxStates = 10_000;
const maxRanges = 20_000;
/** Units of work of an automaton, and of a state that is kept. */
const automatonUnits = 40;
const stateUnits = 2;

/**
 * Returns the states of a language's automaton; the first is its start. Empty if the language has no text. Yields after each
 * step; a step takes about a microsecond. @throws TooMuchWork
 */
export function* automatonInSteps(
  languages: Languages,
  language: Language,
): Generator<void, readonly State[]> {
  languages.work.spend(automatonUnits);
  const sets = setsOf(language, languages.work);
  languages.work.spend(sets.reduce((sum, { length }) => sum + length, 0));
  const alphabet = new Alphabet(sets);
  const numbers = new Map<Language, number>([[language, 0]]);
  const order = [language];
  const targets: Ways[] = [];
  for (let at = 0; at < order.length; at++) {
    const ways: Ways = new Map();
    const from = order[at] as Language;
    languages.work.spend(alphabet.size >> 5);
    for (const group of alphabet.groups(languages.firstSets(from))) {
      yield;
      languages.work.spend(1);
      const target = languages.derivative(from, alphabet.memberOf(group[0] as number));
      if (target === languages.nothing) continue;
      let number = numbers.get(target);
      if (number === undefined) {
        number = order.length;
        if (number >= maxStates) throw new TooMuchWork(`needs more than ${maxStates} states`);
        numbers.set(target, number);
        order.push(target);
      }
      const known = ways.get(number);
      if (known === undefined) ways.set(number, [group]);
      else known.push(group);
    }
    targets.push(ways);
  }
  return yield* trimmed(languages, order, targets, alphabet);
}

/** Classes of characters, by number. */
type Group = readonly number[];

/** From a state to others, by number, with the groups of classes that lead there. */
type Ways = Map<number, Group[]>;

/** The classes of the characters of one automaton, by number. */
class Alphabet {
  readonly #classes: readonly CharacterClass[];
  /** By set, the classes within it; without sets that hold all of them. */
  readonly #within = new Map<CodePoints, number[]>();
  readonly #unions = new Map<string, CodePoints>();
  readonly #ofGroups = new Map<Group, CodePoints>();
  readonly #groups = new Map<readonly CodePoints[], readonly Group[]>();

  constructor(sets: readonly CodePoints[]) {
    const classes = classesOf(sets, maxRanges);
    if (classes === undefined) throw new TooMuchWork('has too many classes of characters');
    this.#classes = classes;
    const within = sets.map((): number[] => []);
    for (const [index, { sets: own }] of classes.entries()) for (const set of own) within[set]?.push(index);
    for (const [set, places] of within.entries())
      if (places.length < classes.length) this.#within.set(sets[set] as CodePoints, places);
  }

  get size(): number {
    return this.#classes.length;
  }

  /** A character of a class. */
  memberOf(index: number): number {
    return this.#classes[index]?.codePoints[0]?.[0] ?? 0;
  }

  /** Divides the classes into groups that no set of some tells apart. */
  groups(sets: readonly CodePoints[]): readonly Group[] {
    const known = this.#groups.get(sets) ?? this.#divided(sets);
    this.#groups.set(sets, known);
    return known;
  }

  #divided(sets: readonly CodePoints[]): number[][] {
    const groupOf = this.#classes.map(() => 0);
    let count = 1;
    for (const set of sets) {
      const moved = new Map<number, number>();
      for (const index of this.#within.get(set) ?? []) {
        const from = groupOf[index] as number;
        const to = moved.get(from) ?? count++;
        moved.set(from, to);
        groupOf[index] = to;
      }
    }
    const groups = new Map<number, number[]>();
    for (const [index, group] of groupOf.entries()) {
      const known = groups.get(group);
      if (known === undefined) groups.set(group, [index]);
      else known.push(index);
    }
    return [...groups.values()];
  }

  /** The union of some groups; the same classes give the same object. */
  union(groups: readonly Group[]): CodePoints {
    const [one] = groups;
    if (one === undefined || groups.length > 1) return this.#unionOf(groups.flat());
    const known = this.#ofGroups.get(one) ?? this.#unionOf(one);
    this.#ofGroups.set(one, known);
    return known;
  }

  #unionOf(group: Group): CodePoints {
    const classes = group.toSorted((a, b) => a - b);
    const key = String(classes);
    const union =
      this.#unions.get(key) ?? unionOf(classes.flatMap((index) => this.#classes[index]?.codePoints ?? []));
    this.#unions.set(key, union);
    return union;
  }
}

/** Drops the states that lead to no end. */
function* trimmed(
  { work }: Languages,
  order: readonly Language[],
  targets: readonly Ways[],
  alphabet: Alphabet,
): Generator<void, State[]> {
  const sources: number[][] = order.map(() => []);
  for (const [from, ways] of targets.entries()) for (const to of ways.keys()) sources[to]?.push(from);
  const open = order.flatMap(({ nullable }, at) => (nullable ? [at] : []));
  const living = new Set(open);
  for (let at = open.pop(); at !== undefined; at = open.pop())
    for (const source of sources[at] ?? [])
      if (!living.has(source)) {
        living.add(source);
        open.push(source);
      }
  if (!living.has(0)) return [];
  const renamed = new Map([...living].sort((a, b) => a - b).map((at, index) => [at, index]));
  const states: State[] = [];
  for (const at of renamed.keys()) {
    yield;
    work.spend(stateUnits);
    const next = new Map<number, CodePoints>();
    for (const [to, groups] of targets[at] ?? []) {
      const number = renamed.get(to);
      if (number !== undefined) next.set(number, alphabet.union(groups));
    }
    states.push({ accepts: order[at]?.nullable ?? false, next });
  }
  return states;
}

/** Characters of the shortest text of an automaton; infinite if it has none. */
export const shortestText = (states: readonly State[]): number => shortestTexts(states)[0] ?? infinity;

function sourcesOf(states: readonly State[]): number[][] {
  const sources: number[][] = states.map(() => []);
  for (const [from, { next }] of states.entries()) for (const to of next.keys()) sources[to]?.push(from);
  return sources;
}

/** Characters of the shortest text from each state on. */
export function shortestTexts(states: readonly State[]): number[] {
  const sources = sourcesOf(states);
  const shortest = states.map(({ accepts }) => (accepts ? 0 : infinity));
  const open = states.flatMap(({ accepts }, at) => (accepts ? [at] : []));
  for (const at of open)
    for (const source of sources[at] ?? [])
      if (shortest[source] === infinity) {
        shortest[source] = (shortest[at] as number) + 1;
        open.push(source);
      }
  return shortest;
}

/** Characters of the longest text from each state on; infinite from a loop. */
export function longestTexts(states: readonly State[]): number[] {
  const sources = sourcesOf(states);
  const longest = states.map(() => infinity);
  const waiting = states.map(({ next }) => next.size);
  const open = states.flatMap(({ next }, at) => (next.size === 0 ? [at] : []));
  for (const at of open) {
    const next = [...(states[at] as State).next.keys()];
    longest[at] = next.reduce((most, to) => Math.max(most, 1 + (longest[to] as number)), 0);
    for (const source of sources[at] ?? []) if (--(waiting[source] as number) === 0) open.push(source);
  }
  return longest;
}

/** Whether texts that reach a state end with any number of characters of one set. */
export const isLastLoop = ({ accepts, next }: State, at: number) =>
  accepts && next.size === 1 && next.has(at);

/** How many states take a rule for each number of characters in the grammar of the texts of at most `most` characters. */
export function statesThatCount(states: readonly State[], most: number): number {
  const longest = longestTexts(states);
  return states.filter((state, at) => (longest[at] as number) > most && !isLastLoop(state, at)).length;
}
