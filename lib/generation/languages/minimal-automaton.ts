import type { State, Way } from './automaton.js';
import { type CodePoints, unionOf } from './code-points.js';

/** Returns the automaton of the same texts with the fewest states: those from which the same texts lead to an end are one (Moore, 1956). */
export function minimalAutomaton(states: readonly State[]): State[] {
  let classes = numbered(states.map(({ accepts }) => String(accepts)));
  for (let count = 0; count < classes.count; ) {
    count = classes.count;
    const { of } = classes;
    classes = numbered(states.map((state, at) => JSON.stringify([of[at], waysOf(state, of)])));
  }
  const { of, count } = classes;
  return Array.from({ length: count }, (_, number) => {
    const state = states[of.indexOf(number)] as State;
    return { accepts: state.accepts, next: waysOf(state, of) };
  });
}

/** Numbers of equal texts, in the order of their first places. */
function numbered(keys: readonly string[]): { of: number[]; count: number } {
  const numbers = new Map<string, number>();
  const of = keys.map((key) => {
    const number = numbers.get(key) ?? numbers.size;
    numbers.set(key, number);
    return number;
  });
  return { of, count: numbers.size };
}

/** The ways of a state to classes of states, sorted. */
function waysOf({ next }: State, of: readonly number[]): Way[] {
  const sets = new Map<number, CodePoints>();
  for (const { to, set } of next) {
    const number = of[to] as number;
    sets.set(number, [...(sets.get(number) ?? []), ...set]);
  }
  return [...sets].sort(([a], [b]) => a - b).map(([to, set]) => ({ to, set: unionOf(set) }));
}
