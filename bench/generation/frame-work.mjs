// Work of a frame: arithmetic in a number of rounds, because a loop that asks for its processor time spends most of it in the kernel.
const sliceRounds = 100_000;
const slices = 200;

/** @returns a number that depends on all rounds, so that none is optimised away */
export function work(rounds) {
  let value = 1;
  for (let i = 0; i < rounds; i++) value = (Math.imul(value, 1664525) + 1013904223) | 0;
  return value;
}

/** Rounds that take `ms` on an idle core: the fastest slice counts. */
export function roundsOf(ms) {
  let fastest = Number.POSITIVE_INFINITY;
  for (let i = 0; i < slices; i++) {
    const begin = performance.now();
    work(sliceRounds);
    fastest = Math.min(fastest, performance.now() - begin);
  }
  return Math.round((ms / fastest) * sliceRounds);
}
