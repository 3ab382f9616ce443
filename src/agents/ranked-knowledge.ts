import type { Knowledge } from '../protocol/components.js';
import type { Interaction } from './interaction.js';

/** Returns the knowledge of a turn, best first: by rank, then in the order found. A record counts once. */
export function rankedKnowledge({ components }: Interaction): Knowledge[] {
  const found = components.filter((component): component is Knowledge => component._type === 'knowledge');
  const seen = new Set<string>();
  return found
    .sort((a, b) => a.rank - b.rank)
    .filter(({ storage, id }) => {
      const key = JSON.stringify([storage, id]);
      if (seen.has(key)) return false;
      seen.add(key);
      return true;
    });
}
