/** Deterministic vectors for strings: the same string and seed give the same direction in every vocabulary. */
export class RandomProjection {
  dimension;
  seed;
  constructor(dimension, seed) {
    this.dimension = dimension;
    this.seed = seed;
  }
  /**
   * Adds `scale` times the string's vector of +1 and -1 (Rademacher; any two strings are nearly orthogonal: the cosine
   * has a standard deviation of 1/sqrt(dimension)).
   */
  add(target, text, scale) {
    let state = hash(text, this.seed);
    let bits = 0;
    for (let i = 0; i < this.dimension; i++) {
      if (i % 32 === 0) {
        state = (state + 0x9e3779b9) >>> 0;
        bits = mix(state);
      }
      target[i] = target[i] + ((bits >>> (i % 32)) & 1 ? scale : -scale);
    }
  }
}
/** FNV-1a over UTF-16 code units, then mixed. */
function hash(text, seed) {
  let state = (0x811c9dc5 ^ seed) >>> 0;
  for (let i = 0; i < text.length; i++) state = Math.imul(state ^ text.charCodeAt(i), 0x01000193) >>> 0;
  return mix(state);
}
/** A bijection of 32 bits in which every input bit changes about half of the output bits. */
export function mix(value) {
  let state = value >>> 0;
  state = Math.imul(state ^ (state >>> 16), 0x21f0aaad) >>> 0;
  state = Math.imul(state ^ (state >>> 15), 0x735a2d97) >>> 0;
  return (state ^ (state >>> 15)) >>> 0;
}
