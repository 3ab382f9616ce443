/** A small seeded generator (mulberry32), so that a failing test can be repeated. Values in [0, 1). */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The seed of randomised tests: LOREKEEP_TEST_SEED, else a fixed one. Print it when a test fails. */
export const testSeed = Number(process.env.LOREKEEP_TEST_SEED ?? 20240229);

/** Standard normal values (Box-Muller). */
function gaussian(next: () => number): () => number {
  return () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
}

/** Row-major unit-length rows around random centres, as embeddings of topics lie. */
export function clusteredVectors(
  rows: number,
  dimension: number,
  clusters: number,
  seed: number,
  spread = 0.6,
): Float32Array {
  const next = random(seed);
  const normal = gaussian(next);
  const scale = 1 / Math.sqrt(dimension);
  const centres = Float32Array.from({ length: clusters * dimension }, () => normal() * scale);
  const values = new Float32Array(rows * dimension);
  for (let row = 0; row < rows; row++) {
    const centre = Math.floor(next() * clusters) * dimension;
    let squares = 0;
    for (let i = 0; i < dimension; i++) {
      const value = (centres[centre + i] as number) + normal() * scale * spread;
      values[row * dimension + i] = value;
      squares += value * value;
    }
    const inverse = 1 / Math.sqrt(squares);
    for (let i = 0; i < dimension; i++)
      values[row * dimension + i] = (values[row * dimension + i] as number) * inverse;
  }
  return values;
}
