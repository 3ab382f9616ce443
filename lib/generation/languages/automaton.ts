import { type CodePoints, classesOf, unionOf } from './code-points.js';
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
const automatonUnits = 20;
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
  const classes = classesOf(setsOf(language), maxRanges);
  if (classes === undefined) throw new TooMuchWork('has too many classes of characters');
  const numbers = new Map<Language, number>([[language, 0]]);
  const order = [language];
  const targets: Map<number, number[]>[] = [];
  for (let at = 0; at < order.length; at++) {
    const ways = new Map<number, number[]>();
    for (const [index, set] of classes.entries()) {
      yield;
      languages.work.spend(1);
      const target = languages.derivative(order[at] as Language, set[0]?.[0] ?? 0);
      if (target === languages.nothing) continue;
      let number = numbers.get(target);
      if (number === undefined) {
        number = order.length;
        if (number >= maxStates) throw new TooMuchWork(`needs more than ${maxStates} states`);
        numbers.set(target, number);
        order.push(target);
      }
      const known = ways.get(number);
      if (known === undefined) ways.set(number, [index]);
      else known.push(index);
    }
    targets.push(ways);
  }
  return yield* trimmed(languages, order, targets, unions(classes));
}

/** Returns the union of the classes at some places; the same places give the same object. */
function unions(classes: readonly CodePoints[]): (places: readonly number[]) => CodePoints {
  const known = new Map<string, CodePoints>();
  return (places) => {
    const key = String(places);
    const union = known.get(key) ?? unionOf(places.flatMap((place) => classes[place] as CodePoints));
    known.set(key, union);
    return union;
  };
}

/** Drops the states that lead to no end. */
function* trimmed(
  { work }: Languages,
  order: readonly Language[],
  targets: readonly Map<number, number[]>[],
  unionAt: (places: readonly number[]) => CodePoints,
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
    for (const [to, places] of targets[at] ?? []) {
      const number = renamed.get(to);
      if (number !== undefined) next.set(number, unionAt(places));
    }
    states.push({ accepts: order[at]?.nullable ?? false, next });
  }
  return states;
}

/**
 * Returns the automaton of those texts of another one that have at most `most` characters. Yields after each state.
 * @throws TooMuchWork
 */
export function* limitedInSteps(
  { work }: Languages,
  states: readonly State[],
  most: number,
): Generator<void, readonly State[]> {
  const shortest = shortestTexts(states);
  if ((shortest[0] ?? infinity) > most) return [];
  // A state of the result is a state of the other automaton with a number of characters that may follow.
  const numbers = new Map<number, number>();
  const order: { at: number; left: number }[] = [];
  const numberOf = (at: number, left: number) => {
    const key = at * (most + 1) + left;
    const known = numbers.get(key);
    if (known !== undefined) return known;
    if (order.length >= maxStates) throw new TooMuchWork(`needs more than ${maxStates} states`);
    numbers.set(key, order.length);
    return order.push({ at, left }) - 1;
  };
  numberOf(0, most);
  const made: State[] = [];
  for (const { at, left } of order) {
    yield;
    const { accepts, next } = states[at] as State;
    work.spend(stateUnits + (next.size >> 1));
    const ways = new Map<number, CodePoints>();
    for (const [to, set] of next)
      if ((shortest[to] ?? infinity) < left) ways.set(numberOf(to, left - 1), set);
    made.push({ accepts, next: ways });
  }
  return made;
}

/** Characters of the shortest text of an automaton; 0 if it has none. */
export const shortestText = (states: readonly State[]): number => shortestTexts(states)[0] ?? 0;

/** Characters of the shortest text from each state on. */
function shortestTexts(states: readonly State[]): number[] {
  const sources: number[][] = states.map(() => []);
  for (const [from, { next }] of states.entries()) for (const to of next.keys()) sources[to]?.push(from);
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
