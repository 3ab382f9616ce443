import { type CharacterClass, type CodePoints, classesOf, holds, unionOf } from './code-points.js';
import { type Language, type Languages, setsOf } from './language.js';
import { TooMuchWork } from './work.js';

/** A state of a deterministic automaton without states from which no text ends. */
export interface State {
  readonly accepts: boolean;
  readonly next: readonly Way[];
}

/** To a state, by number, with the characters that lead there. A state has one way to another at most. */
export interface Way {
  readonly to: number;
  readonly set: CodePoints;
}

const infinity = Number.POSITIVE_INFINITY;

/** Limits of one automaton. */
const maxStates = 10_000;
const maxRanges = 20_000;
/** Units of work of an automaton, and of a state that is kept. */
const automatonUnits = 30;
const stateUnits = 1;

/**
 * Returns the states of a language's automaton; the first is its start. Empty if the language has no text. Yields before each
 * state. @throws TooMuchWork
 */
export function* automatonInSteps(
  languages: Languages,
  language: Language,
): Generator<void, readonly State[]> {
  languages.work.spend(automatonUnits);
  const sets = setsOf(language, languages.work);
  languages.work.spend(sets.reduce((sum, { length }) => sum + length, 0));
  const alphabet = new Alphabet(sets);
  const found = new Found(language);
  for (let at = 0; at < found.order.length; at++) {
    yield;
    found.targets.push(waysOf(found.order[at] as Language, found, languages, alphabet));
  }
  const numbers = livingStates(found);
  const states: State[] = [];
  for (let at = 0; at < found.order.length; at++) {
    if (numbers[at] === undefined) continue;
    yield;
    languages.work.spend(stateUnits);
    states.push(stateOf(at, found, numbers, alphabet));
  }
  return states;
}

// The functions below run often in a process that has just started: loops by index, without iterators and without patterns, are
// compiled in a fraction of the time.

/** Classes of characters, by number. */
type Group = readonly number[];

/** To a state, by number, with the groups of classes that lead there. */
interface Target {
  readonly to: number;
  readonly groups: Group[];
}

/** The languages that texts lead to. */
class Found {
  readonly order: Language[];
  readonly numbers: Map<Language, number>;
  readonly targets: Target[][] = [];
  /** By number, the index of the target that was found last. */
  readonly last: number[] = [];

  constructor(language: Language) {
    this.order = [language];
    this.numbers = new Map([[language, 0]]);
  }

  numberOf(language: Language): number {
    const known = this.numbers.get(language);
    if (known !== undefined) return known;
    const number = this.order.length;
    if (number >= maxStates) throw new TooMuchWork(`needs more than ${maxStates} states`);
    this.numbers.set(language, number);
    this.order.push(language);
    return number;
  }
}

function waysOf(from: Language, found: Found, languages: Languages, alphabet: Alphabet): Target[] {
  const { last } = found;
  const ways: Target[] = [];
  const groups = alphabet.groups(languages.firstSets(from));
  languages.work.spend((alphabet.size >> 5) + groups.length);
  for (let index = 0; index < groups.length; index++) {
    const group = groups[index] as Group;
    const target = languages.derivative(from, alphabet.memberOf(group[0] as number));
    if (target === languages.nothing) continue;
    const to = found.numberOf(target);
    const known = ways[last[to] ?? 0];
    if (known?.to === to) {
      known.groups.push(group);
      continue;
    }
    last[to] = ways.length;
    ways.push({ to, groups: [group] });
  }
  return ways;
}

/** New numbers of the states from which some text ends, all undefined if the first one is not among them. */
function livingStates({ order, targets }: Found): (number | undefined)[] {
  const sources = sourcesOf(targets);
  const living = order.map(({ nullable }) => nullable);
  const open: number[] = [];
  for (let at = 0; at < living.length; at++) if (living[at]) open.push(at);
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const from = sources[at] as number[];
    for (let index = 0; index < from.length; index++) {
      const source = from[index] as number;
      if (living[source]) continue;
      living[source] = true;
      open.push(source);
    }
  }
  let count = 0;
  return living.map((lives) => (lives && living[0] ? count++ : undefined));
}

function stateOf(
  at: number,
  found: Found,
  numbers: readonly (number | undefined)[],
  alphabet: Alphabet,
): State {
  const targets = found.targets[at] as Target[];
  const next: Way[] = [];
  for (let index = 0; index < targets.length; index++) {
    const { to, groups } = targets[index] as Target;
    const number = numbers[to];
    if (number !== undefined) next.push({ to: number, set: alphabet.union(groups) });
  }
  return { accepts: (found.order[at] as Language).nullable, next };
}

/** The classes of the characters of one automaton, by number. */
class Alphabet {
  readonly #classes: readonly CharacterClass[];
  /** By set, the classes within it. */
  readonly #within = new Map<CodePoints, readonly number[]>();
  readonly #unions = new Map<string, CodePoints>();
  readonly #ofGroups = new Map<Group, CodePoints>();
  readonly #groups = new Map<readonly CodePoints[], readonly Group[]>();

  constructor(sets: readonly CodePoints[]) {
    const classes = classesOf(sets, maxRanges);
    if (classes === undefined) throw new TooMuchWork('has too many classes of characters');
    this.#classes = classes;
    const within = sets.map((): number[] => []);
    for (let index = 0; index < classes.length; index++)
      for (const set of (classes[index] as CharacterClass).sets) within[set]?.push(index);
    for (let set = 0; set < sets.length; set++)
      this.#within.set(sets[set] as CodePoints, within[set] as number[]);
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
    const groupOf = new Array<number>(this.#classes.length).fill(0);
    let count = 1;
    for (let at = 0; at < sets.length; at++) {
      const places = this.#classesWithin(sets[at] as CodePoints);
      if (places.length < groupOf.length) count = divide(groupOf, places, count);
    }
    const byGroup: (number[] | undefined)[] = [];
    const groups: number[][] = [];
    for (let index = 0; index < groupOf.length; index++) {
      const group = groupOf[index] as number;
      const known = byGroup[group];
      if (known !== undefined) {
        known.push(index);
        continue;
      }
      const made = [index];
      byGroup[group] = made;
      groups.push(made);
    }
    return groups;
  }

  /** The classes within a set. Derivatives have unions and intersections of the alphabet's sets, which hold whole classes. */
  #classesWithin(set: CodePoints): readonly number[] {
    const known = this.#within.get(set);
    if (known !== undefined) return known;
    const places: number[] = [];
    for (let index = 0; index < this.#classes.length; index++)
      if (holds(set, this.memberOf(index))) places.push(index);
    this.#within.set(set, places);
    return places;
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
    if (group.length === 1) return this.#classes[group[0] as number]?.codePoints ?? [];
    const classes = group.toSorted((a, b) => a - b);
    const key = String(classes);
    const union =
      this.#unions.get(key) ?? unionOf(classes.flatMap((index) => this.#classes[index]?.codePoints ?? []));
    this.#unions.set(key, union);
    return union;
  }
}

/** Moves the classes at some places from their groups to new ones. Returns the number of the next group. */
function divide(groupOf: number[], places: readonly number[], next: number): number {
  const moved: number[] = [];
  let count = next;
  for (let at = 0; at < places.length; at++) {
    const index = places[at] as number;
    const from = groupOf[index] as number;
    let to = moved[from];
    if (to === undefined) {
      to = count++;
      moved[from] = to;
    }
    groupOf[index] = to;
  }
  return count;
}

/** Characters of the shortest text of an automaton; infinite if it has none. */
export const shortestText = (states: readonly State[]): number =>
  states[0]?.accepts ? 0 : (shortestTexts(states)[0] ?? infinity);

/** By state, the states that lead there. */
function sourcesOf(ways: readonly (readonly { readonly to: number }[])[]): number[][] {
  const sources: number[][] = ways.map(() => []);
  for (let from = 0; from < ways.length; from++) {
    const next = ways[from] as readonly { readonly to: number }[];
    for (let index = 0; index < next.length; index++) sources[(next[index] as { to: number }).to]?.push(from);
  }
  return sources;
}

const waysOfAll = (states: readonly State[]) => states.map(({ next }) => next);

/** Lengths that were computed before, by automaton. */
const known = {
  shortest: new WeakMap<readonly State[], readonly number[]>(),
  longest: new WeakMap<readonly State[], readonly number[]>(),
};

/** Characters of the shortest text from each state on. */
export function shortestTexts(states: readonly State[]): readonly number[] {
  const shortest = known.shortest.get(states) ?? findShortest(states);
  known.shortest.set(states, shortest);
  return shortest;
}

/** Characters of the longest text from each state on; infinite from a loop. */
export function longestTexts(states: readonly State[]): readonly number[] {
  const longest = known.longest.get(states) ?? findLongest(states);
  known.longest.set(states, longest);
  return longest;
}

function findShortest(states: readonly State[]): number[] {
  const sources = sourcesOf(waysOfAll(states));
  const shortest = states.map(({ accepts }) => (accepts ? 0 : infinity));
  const open: number[] = [];
  for (let at = 0; at < states.length; at++) if (shortest[at] === 0) open.push(at);
  for (let index = 0; index < open.length; index++) {
    const at = open[index] as number;
    const from = sources[at] as number[];
    for (let each = 0; each < from.length; each++) {
      const source = from[each] as number;
      if (shortest[source] !== infinity) continue;
      shortest[source] = (shortest[at] as number) + 1;
      open.push(source);
    }
  }
  return shortest;
}

function findLongest(states: readonly State[]): number[] {
  const sources = sourcesOf(waysOfAll(states));
  const longest = states.map(() => infinity);
  const waiting = states.map(({ next }) => next.length);
  const open: number[] = [];
  for (let at = 0; at < states.length; at++) if (waiting[at] === 0) open.push(at);
  for (let index = 0; index < open.length; index++) {
    const at = open[index] as number;
    const { next } = states[at] as State;
    let most = 0;
    for (let way = 0; way < next.length; way++)
      most = Math.max(most, 1 + (longest[(next[way] as Way).to] as number));
    longest[at] = most;
    const from = sources[at] as number[];
    for (let each = 0; each < from.length; each++) {
      const source = from[each] as number;
      const left = (waiting[source] as number) - 1;
      waiting[source] = left;
      if (left === 0) open.push(source);
    }
  }
  return longest;
}

/** Whether texts that reach a state end with any number of characters of one set. */
export const isLastLoop = ({ accepts, next }: State, at: number) =>
  accepts && next.length === 1 && next[0]?.to === at;

/** How many states take a rule for each number of characters in the grammar of the texts of at most `most` characters. */
export function statesThatCount(states: readonly State[], most: number): number {
  const longest = longestTexts(states);
  return states.filter((state, at) => (longest[at] as number) > most && !isLastLoop(state, at)).length;
}
