import type { LanguageModelState } from '../../src/operations/monitor/state.js';

export type Part = NonNullable<LanguageModelState['prefixes']>[number];

export interface Prefix extends Part {
  children: Prefix[];
  /** With the parts below: requests under way, kept sequences, pins, and the time since the last use. */
  all: { running: number; kept: number; pinned: number; idleMs: number };
}

/** Returns the parts that begin prompts, the most used first; the others are below them. */
export function prefixTree(parts: readonly Part[]): Prefix[] {
  const roots: Prefix[] = [];
  const path: Prefix[] = [];
  for (const part of parts) {
    const prefix: Prefix = { ...part, children: [], all: ownNumbers(part) };
    path.length = part.depth;
    (path.at(-1)?.children ?? roots).push(prefix);
    path.push(prefix);
  }
  return summed(roots);
}

function ownNumbers({ running, kept, pinned, idleMs }: Part): Prefix['all'] {
  const ends = running + kept > 0;
  return { running, kept, pinned, idleMs: ends ? idleMs : Number.POSITIVE_INFINITY };
}

/** Adds up from the leaves. */
function summed(prefixes: Prefix[]): Prefix[] {
  for (const { children, all } of prefixes)
    for (const { all: below } of summed(children)) {
      all.running += below.running;
      all.kept += below.kept;
      all.pinned += below.pinned;
      all.idleMs = Math.min(all.idleMs, below.idleMs);
    }
  const users = ({ all }: Prefix) => all.running + all.kept;
  return prefixes.sort((a, b) => users(b) - users(a) || b.tokens - a.tokens);
}
