/** Deterministic vectors for strings: the same string and seed give the same direction in every vocabulary. */
export declare class RandomProjection {
  private readonly dimension;
  private readonly seed;
  constructor(dimension: number, seed: number);
  /**
   * Adds `scale` times the string's vector of +1 and -1 (Rademacher; any two strings are nearly orthogonal: the cosine
   * has a standard deviation of 1/sqrt(dimension)).
   */
  add(target: Float32Array, text: string, scale: number): void;
}
/** A bijection of 32 bits in which every input bit changes about half of the output bits. */
export declare function mix(value: number): number;
