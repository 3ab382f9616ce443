import type { Work } from '../languages/work.js';
import type { GrammarRules } from './grammar-rules.js';
import { refuse } from './schema-checks.js';

/** A part of a sequence with commas between those that are present. */
export interface SequencePart {
  readonly text: string;
  readonly needed: boolean;
}

export interface Sequence {
  readonly parts: readonly SequencePart[];
  /** Any number of these may follow. */
  readonly more: string | undefined;
  readonly least: number;
  readonly most: number;
  /** Whether those that follow count towards `least`, or, since one may repeat another, only the first of them. */
  readonly repeating: boolean;
  readonly at: string;
}

/** Rules of one sequence: its parts times the counts that matter. */
const maxRules = 70_000;
/** Of these, in one unit of work. */
const rulesInUnit = 2;

/** Returns an expression for a sequence; undefined if none has the right number of parts. @throws TooMuchWork */
export function sequenceGrammar(sequence: Sequence, rules: GrammarRules, work: Work): string | undefined {
  const { parts, more, least } = sequence;
  if (parts.length === 0) return tail(sequence, 0, rules);
  // Parts alone can't be too many for a larger bound.
  const most = more === undefined && sequence.most >= parts.length ? Number.POSITIVE_INFINITY : sequence.most;
  const bounded = most !== Number.POSITIVE_INFINITY;
  // Counts from here on are alike.
  const alike = bounded ? most + 1 : Math.max(least, 1);
  if (parts.length * (alike + 1) > maxRules) refuse(sequence.at, 'has too many parts for its bounds');
  work.spend(Math.ceil(((parts.length + 1) * (alike + 1)) / rulesInUnit));
  let after = Array.from({ length: alike + 1 }, (_, count) =>
    bounded && count > most ? undefined : tail(sequence, count, rules),
  );
  const comma = `"," ${rules.shared('space')}`;
  for (const [index, { text, needed }] of [...parts.entries()].reverse()) {
    const counts = Math.min(index, alike);
    after = Array.from({ length: alike + 1 }, (_, count) => {
      if (count > counts) return undefined;
      const rest = after[Math.min(count + 1, alike)];
      const present = rest === undefined ? undefined : joined(count === 0 ? '' : comma, text, rest);
      const missing = needed ? undefined : after[count];
      if (present === undefined || missing === undefined) return ruled(present ?? missing, rules);
      return rules.add(`${present} | ${missing}`);
    });
  }
  return after[0];
}

const joined = (...parts: readonly string[]) =>
  parts.filter((part) => part !== '' && part !== '""').join(' ');

const ruled = (body: string | undefined, rules: GrammarRules) =>
  body === undefined || /^[\w-]+$|^""$/.test(body) ? body : rules.add(body);

/** The end of a sequence that has `count` parts so far. */
function tail(
  { more, least, most, repeating, at }: Sequence,
  count: number,
  rules: GrammarRules,
): string | undefined {
  if (more === undefined) return count < least ? undefined : '""';
  const missing = Math.max(0, least - count);
  if (repeating && missing > 1) refuse(at, 'cannot be enforced for names that a reply may choose');
  const comma = `"," ${rules.shared('space')}`;
  const room = most - count;
  if (room <= 0) return missing > 0 ? undefined : '""';
  if (count > 0) return `(${comma} ${more})${repetition(missing, room)}`;
  const others = `(${comma} ${more})${repetition(Math.max(0, missing - 1), room - 1)}`;
  return missing === 0 ? `(${more} ${others})?` : `${more} ${others}`;
}

export function repetition(least: number, most: number): string {
  if (most === Number.POSITIVE_INFINITY) return least === 0 ? '*' : `{${least},}`;
  return `{${least},${most}}`;
}
