import { searchNamed } from '../knowledge/search-storages.js';
import { inSlot, type SlotShare } from '../lifecycle/fair-slots.js';
import { mapInTurns } from '../lifecycle/loop-turn.js';
import type { StorageSearch, WireOutcome } from './search.js';
import { wireHit } from './wire.js';

/** Searches several storages and merges their hits. @throws as StorageSearch.run() */
export async function searchTogether(
  searches: readonly { name: string; search: StorageSearch }[],
  text: string,
  variables: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
  threads: SlotShare,
): Promise<WireOutcome> {
  const named = searches.map(({ name, search }) => ({
    name,
    storage: search.storage,
    options: search.options(text, variables, signal),
  }));
  const [first] = searches as [(typeof searches)[number]];
  try {
    const { hits, outcomes } = await inSlot(threads, signal, (turn) => searchNamed(named, turn));
    const [{ plan }] = outcomes as [(typeof outcomes)[number]];
    const sum = (of: (outcome: (typeof outcomes)[number]) => number) =>
      outcomes.reduce((total, outcome) => total + of(outcome), 0);
    return {
      embedMs: sum(({ embedMs }) => embedMs),
      searchMs: sum(({ searchMs }) => searchMs),
      times: {
        filter: sum(({ times }) => times.filter),
        dense: sum(({ times }) => times.dense),
        lexical: sum(({ times }) => times.lexical),
        fusion: sum(({ times }) => times.fusion),
      },
      stale: searches.some(({ search }) => search.outdated),
      hits: await mapInTurns(hits, wireHit),
      plan,
      plans: outcomes.map((outcome) => ({ storage: outcome.storage, plan: outcome.plan })),
    };
  } catch (error) {
    throw first.search.wireError(error);
  }
}
