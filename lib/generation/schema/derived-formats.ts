import { longestTexts, type State, shortestText } from '../languages/automaton.js';
import { automatonOf } from '../languages/automaton-text.js';
import { formatAutomata } from './format-automata.gen.js';
import type { Shape } from './shape.js';
import { formatKey } from './string-formats.js';
import { writableLength } from './text-languages.js';

/** The automaton of a format. */
interface Derived {
  readonly key: string;
  readonly states: readonly State[];
  /** Characters of the shortest and of the longest text. */
  readonly least: number;
  readonly most: number;
}

/** By key, those that this process has read. */
const read = new Map<string, Derived>();

/**
 * The automaton of a shape's strings that was derived when the program was built, and their maximum length, which is infinite if none
 * is longer: of one format, with at most one pattern beside it, and with a minimum length that all of its texts have.
 */
export function formatAutomatonOf({ string, excluded }: Shape): Omit<Derived, 'least'> | undefined {
  const [one, ...others] = string.formats;
  const [pattern, ...patterns] = string.patterns;
  if (one === undefined || others.length + patterns.length + excluded.length > 0) return undefined;
  const found = pattern?.negated ? undefined : derived(formatKey(one.format, pattern?.pattern));
  if (found === undefined || string.least > found.least) return undefined;
  const { key, states } = found;
  const most = string.most >= found.most ? Number.POSITIVE_INFINITY : writableLength(states, string);
  return { key, states, most };
}

function derived(key: string): Derived | undefined {
  const text = formatAutomata.get(key);
  if (text === undefined) return undefined;
  const known = read.get(key);
  if (known !== undefined) return known;
  const states = automatonOf(text);
  const [most = 0] = longestTexts(states);
  const made = { key, states, least: shortestText(states), most };
  read.set(key, made);
  return made;
}
