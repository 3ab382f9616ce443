import { randomInt } from 'node:crypto';

/** Longest window whose hash leads to the texts that begin with it. */
const longestWindow = 20;

/**
 * Another one in each process. Maps do not seed the hashes of numbers: of a known factor, parts could be chosen that are all in
 * one bucket.
 */
const factor = 2 * randomInt(2 ** 28, 2 ** 31) + 1;

/** Work between two pauses: a character looked at, or a candidate compared. */
const workAtOnce = 16_384;

/** Work in comparing candidates after which a text counts as one that has a part: hostile parts are alike for long. */
const mostComparing = 1 << 21;

/** Characters compared in a unit of work. */
const comparedAtOnce = 16;

/** Parts that are as long as a window, or longer, by the hash of their beginning. */
interface Window {
  readonly length: number;
  readonly parts: Map<number, string[]>;
  /** Whether some part has a hash with these upper bits. */
  readonly known: Uint8Array;
}

/** Looks for any of many parts in texts, in time that grows with the text and not with the number of parts. */
export class TextFinder {
  readonly #windows = new Map<number, Window>();
  readonly #inCut: boolean;

  /**
   * `inCut`: texts may be cut within a part, so the beginning of a part at the end of a text counts, from a window on. A quotation mark
   * is an end, too, as JSON writes it.
   */
  constructor({ inCut = false }: { inCut?: boolean } = {}) {
    this.#inCut = inCut;
  }

  /** Adds a part that is not empty. */
  add(part: string): void {
    const length = Math.min(part.length, longestWindow);
    const window = this.#windows.get(length) ?? { length, parts: new Map(), known: new Uint8Array(1 << 16) };
    this.#windows.set(length, window);
    let hash = 0;
    for (let at = 0; at < length; at++) hash = next(hash, part.charCodeAt(at));
    const same = window.parts.get(hash);
    if (same === undefined) window.parts.set(hash, [part]);
    else same.push(part);
    window.known[hash >>> 16] = 1;
  }

  /** Yields where the search may pause, and returns whether the text has a part. */
  *search(text: string): Generator<undefined, boolean, undefined> {
    const comparing = { left: mostComparing };
    for (const window of this.#windows.values())
      if (yield* found(window, text, comparing, this.#inCut)) return true;
    return false;
  }
}

const quotationMark = 0x22;

const endsAt = (text: string, at: number) => at === text.length || text.charCodeAt(at) === quotationMark;

/** Characters compared between two pauses. */
const comparedBetween = comparedAtOnce * workAtOnce;

/** Returns how many characters of a part a text has at a place. Yields where it may pause. */
function* alike(text: string, from: number, part: string): Generator<undefined, number, undefined> {
  let count = 0;
  while (count < part.length && text.charCodeAt(from + count) === part.charCodeAt(count))
    if (++count % comparedBetween === 0) yield;
  return count;
}

const next = (hash: number, code: number) => (Math.imul(hash, factor) + code) | 0;

function* found(
  { length, parts, known }: Window,
  text: string,
  comparing: { left: number },
  inCut: boolean,
): Generator<undefined, boolean, undefined> {
  let power = 1;
  for (let at = 0; at < length; at++) power = Math.imul(power, factor);
  let hash = 0;
  let work = 0;
  for (let at = 0; at < text.length; at++) {
    if (++work >= workAtOnce) {
      work = 0;
      yield;
    }
    hash = next(hash, text.charCodeAt(at));
    if (at >= length) hash = (hash - Math.imul(power, text.charCodeAt(at - length))) | 0;
    if (at < length - 1 || known[hash >>> 16] === 0) continue;
    for (const part of parts.get(hash) ?? []) {
      const compared = yield* alike(text, at - length + 1, part);
      const cost = 1 + compared / comparedAtOnce;
      work += cost;
      comparing.left -= cost;
      if (comparing.left < 0 || compared === part.length) return true;
      if (inCut && compared >= longestWindow && endsAt(text, at - length + 1 + compared)) return true;
      if (work < workAtOnce) continue;
      work = 0;
      yield;
    }
  }
  return false;
}
