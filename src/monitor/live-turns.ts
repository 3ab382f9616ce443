import { Gathering } from './gathering.js';
import type { TurnRecord } from './turn-ring.js';

/** Most turns of a tenth of a second. */
const mostShown = 50;

/** Hands over finished turns; of too many at a time the failed and the slowest ones. */
export const liveTurns = (show: (turns: readonly TurnRecord[]) => void) =>
  new Gathering(mostShown, worthShowing, show);

function worthShowing(turns: TurnRecord[]): TurnRecord[] {
  const rank = ({ status, queuedMs, durationMs }: TurnRecord) =>
    status === 'failed' ? Number.POSITIVE_INFINITY : queuedMs + durationMs;
  return turns
    .toSorted((a, b) => rank(b) - rank(a) || b.seq - a.seq)
    .slice(0, mostShown)
    .toSorted((a, b) => a.seq - b.seq);
}
