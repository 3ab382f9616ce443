import type { Citation, Source } from '../protocol/components.js';

/** A record that a node's reply is based on, before it is known whether the reply cites it. */
export type UsedRecord = Omit<Source, 'cited'>;

/** Returns the records that the replies of a turn are based on, in the order in which the nodes used them. */
export function sourcesOf(used: readonly UsedRecord[], citations: readonly Citation[]): Source[] {
  const cited = new Set(citations.map(keyOf));
  return used.map((record) => ({ ...record, cited: cited.has(keyOf(record)) }));
}

const keyOf = ({ node, storage, id }: Pick<Source, 'node' | 'storage' | 'id'>) =>
  JSON.stringify([node, storage, id]);
