import type { State, Way } from './automaton.js';
import type { CodePoints } from './code-points.js';

/** The sets of characters; by state, whether it accepts (1 or 0), then the number of a state and of a set for each of its ways. */
type Text = readonly [sets: readonly CodePoints[], states: readonly (readonly number[])[]];

/** Returns an automaton as a text, with each set of characters once. */
export function automatonText(states: readonly State[]): string {
  const numbers = new Map<string, number>();
  const numberOf = (set: CodePoints) => {
    const key = JSON.stringify(set);
    const number = numbers.get(key) ?? numbers.size;
    numbers.set(key, number);
    return number;
  };
  const all = states.map(({ accepts, next }) => [
    Number(accepts),
    ...next.flatMap(({ to, set }) => [to, numberOf(set)]),
  ]);
  return `[[${[...numbers.keys()].join()}],${JSON.stringify(all)}]`;
}

/** Returns the automaton of a text. */
export function automatonOf(text: string): State[] {
  const [sets, states] = JSON.parse(text) as Text;
  return states.map((state) => {
    const next: Way[] = [];
    for (let at = 1; at < state.length; at += 2)
      next.push({ to: state[at] as number, set: sets[state[at + 1] as number] as CodePoints });
    return { accepts: state[0] === 1, next };
  });
}
