import type { ChangeLogFacts } from '../../../lib/internal.js';
import type { LogSource } from './base-log.js';

/** A batch after which the storage has a version. */
export type LoggedBatch = ChangeLogFacts['frames'][number];

/**
 * Divides the batches after a version. The base keeps the versions of the last ones, which are applied one by one: `alone`. Those before
 * are applied in at most two steps, of which `together` has the last batches. `saved`: the last version whose words are saved, where the
 * first step ends.
 */
export function stepsOf(
  { frames }: Pick<ChangeLogFacts, 'frames'>,
  after: number,
  versions: LogSource['versions'],
  saved?: number | undefined,
): { together: LoggedBatch[]; alone: LoggedBatch[] } {
  const batches = frames.filter(({ kind, version }) => kind === 'batch' && version > after);
  const first = Math.max(0, batches.length - (versions?.count ?? 0));
  const together = batches.slice(0, first);
  const ends = new Set([together.find(({ version }) => version === saved), together.at(-1)]);
  return { together: [...ends].filter((batch) => batch !== undefined), alone: batches.slice(first) };
}
