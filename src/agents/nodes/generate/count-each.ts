import { nextSlice } from '../../../base/waiting/next-slice.js';
import type { PromptModel } from './prompt-model.js';

/** Texts counted between two turns of the client: a call per text takes some microseconds of the event loop. */
const countedAtOnce = 32;

/** Characters counted in one call. This keeps a thread, which searches need, for some 20 ms. */
export const longestCounted = 16_384;

/** Tokens by which a text in a prompt and the same text alone may differ. */
export const borderTokens = 2;

/** Minimum number of tokens of a whole slice: hardly any token has more than 256 characters. */
const fewestOfSlice = 64;

/** Returns the tokens that a text has at least in a prompt, if countEach() counts `tokens` alone. */
export function minTokens(tokens: number): number {
  const borders = 1 + Math.floor(tokens / fewestOfSlice);
  return Math.max(0, tokens - borderTokens * borders);
}

/**
 * Counts the tokens of each text, a few at a time: a history may have thousands. A long text is counted in slices, which
 * may give a token more for each, until it must have more than `most` tokens.
 */
export async function countEach(
  model: PromptModel,
  texts: readonly string[],
  most = Number.POSITIVE_INFINITY,
): Promise<number[]> {
  const counts: number[] = [];
  for await (const some of counted(model, texts, most)) counts.push(...some);
  return counts;
}

/** Counts the first texts as countEach() does, until they must have more than `most` tokens together in a prompt. */
export async function countFirst(
  model: PromptModel,
  texts: readonly string[],
  most: number,
): Promise<number[]> {
  const counts: number[] = [];
  let left = most;
  for await (const some of counted(model, texts, most)) {
    counts.push(...some);
    left -= some.reduce((sum, tokens) => sum + minTokens(tokens), 0);
    if (left < 0) break;
  }
  return counts;
}

async function* counted(
  model: PromptModel,
  texts: readonly string[],
  most: number,
): AsyncGenerator<readonly number[]> {
  for (let at = 0; at < texts.length; ) {
    if (at > 0) await nextSlice();
    const some = texts.slice(at, endOfGroup(texts, at));
    at += some.length;
    yield await Promise.all(some.map((text) => count(model, text, most)));
  }
}

/** Returns the end of the texts from `begin` that are counted in one call: at least one. */
function endOfGroup(texts: readonly string[], begin: number): number {
  let end = begin;
  let length = 0;
  while (end < texts.length && end - begin < countedAtOnce) {
    length += (texts[end] as string).length;
    if (end > begin && length > longestCounted) break;
    end++;
  }
  return end;
}

async function count(model: PromptModel, text: string, most: number): Promise<number> {
  let tokens = await model.countTokens(text.slice(0, longestCounted));
  for (let at = longestCounted; at < text.length && minTokens(tokens) <= most; at += longestCounted)
    tokens += await model.countTokens(text.slice(at, at + longestCounted));
  return tokens;
}
