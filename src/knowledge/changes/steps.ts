import type { ChangeLogFacts } from '../../../lib/internal.js';
import type { LogSource } from './base-log.js';

/** A batch after which the storage has a version. */
export type LoggedBatch = ChangeLogFacts['frames'][number];

/**
 * The last batches after a version, which are applied one by one because the base keeps their versions, and the ends of what is applied at
 * once before them: `together`. `saved`: the last version whose words are saved; a step ends there.
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
