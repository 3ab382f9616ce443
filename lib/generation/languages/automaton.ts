import { type CodePoints, classesOf, unionOf } from './code-points.js';
import { type Language, type Languages, setsOf } from './language.js';
import { TooMuchWork } from './work.js';

/** A state of a deterministic automaton without states from which no text ends. */
export interface State {
  readonly accepts: boolean;
  /** Targets by number, with the characters that lead there. */
  readonly next: ReadonlyMap<number, CodePoints>;
}

/** Limits of one automaton. */
const maxStates = 10_000;
const maxRanges = 20_000;
/** Units of work of a state that is kept. */
const stateUnits = 1;

/**
 * Returns the states of a language's automaton; the first is its start. Empty if the language has no text. Yields after each
 * step; a step takes about a microsecond. @throws TooMuchWork
 */
export function* automatonInSteps(
  languages: Languages,
  language: Language,
): Generator<void, readonly State[]> {
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

/** Characters of the shortest text of an automaton; 0 if it has none. */
export function shortestText(states: readonly State[]): number {
  const seen = new Set<number>();
  let open = states.length > 0 ? [0] : [];
  for (let length = 0; open.length > 0; length++) {
    if (open.some((at) => states[at]?.accepts)) return length;
    for (const at of open) seen.add(at);
    open = [...new Set(open.flatMap((at) => [...(states[at]?.next.keys() ?? [])]))].filter(
      (to) => !seen.has(to),
    );
  }
  return 0;
}
