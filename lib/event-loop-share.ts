/**
 * What searches may take of the event loop. A search that is short enough runs on the calling thread, because handing it
 * to another one and back costs more than it does. The addon knows which ones are, and gives one up there after 0.3 or 0.6 ms;
 * here their sum is bounded, so that a program that does nothing but search still serves its timers and sockets.
 */
import { setImmediate } from 'node:timers';

/** How long searches hold the event loop between two turns of it, in nanoseconds; the last one may go beyond. */
const sharePerTurn = 500_000;

let left = sharePerTurn;
let renewing = false;
let resume: (() => void) | undefined;

/** Whether a short search may run right now. */
export function mayHold(): boolean {
  return left > 0;
}

/** Counts what a search took, in nanoseconds. */
export function countHeld(nanoseconds: number): void {
  left -= nanoseconds;
  if (renewing) return;
  renewing = true;
  setImmediate(renew);
}

function renew(): void {
  left = sharePerTurn;
  renewing = false;
  const waiting = resume;
  resume = undefined;
  waiting?.();
}

/**
 * Once the share is used up: the next turn of the event loop, for one caller at a time. Others get undefined, because
 * searches that many ask for at once are better done side by side on other threads.
 */
export function nextTurn(): Promise<void> | undefined {
  if (resume !== undefined || !renewing) return undefined;
  return new Promise((resolve) => {
    resume = resolve;
  });
}
