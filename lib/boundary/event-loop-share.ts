/**
 * Bounds the time that searches block the event loop. A short search runs on the calling thread, because a switch to
 * another thread and back costs more than the search. The addon predicts which ones are short, and stops one there after
 * 0.3 or 0.6 ms. This module bounds their sum, so that a program that only searches still serves its timers and sockets.
 */
import { setImmediate } from 'node:timers';

/** Maximum time for searches per turn of the event loop, in nanoseconds; the last search may exceed it. */
const sharePerTurn = 500_000;

let left = sharePerTurn;
let renewing = false;
let resume: (() => void) | undefined;

/** Returns whether a short search may run on this thread now. */
export function mayHold(): boolean {
  return left > 0;
}

/** Counts the duration of a search, in nanoseconds. */
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
 * Once the share is used up: resolves at the next turn of the event loop, for one caller at a time. Other callers get
 * undefined, because concurrent searches run faster on other threads.
 */
export function nextTurn(): Promise<void> | undefined {
  if (resume !== undefined || !renewing) return undefined;
  return new Promise((resolve) => {
    resume = resolve;
  });
}
