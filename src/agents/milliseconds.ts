/** A duration in milliseconds as clients see it: to the microsecond, which is all that the clock is good for. */
export function milliseconds(duration: number): number {
  return Math.round(duration * 1000) / 1000;
}
