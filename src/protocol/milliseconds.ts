/** Rounds a duration to microseconds, the precision that clients see. */
export function milliseconds(duration: number): number {
  return Math.round(duration * 1000) / 1000;
}
