import type { NativeLogprobs } from '../boundary/native.js';

/** A token and its probability. */
export interface TokenLogprob {
  /** Its id. */
  token: number;
  /** Natural logarithm of its probability. */
  logprob: number;
  /** Its UTF-8, which may be a part of a character. Empty for control tokens. */
  bytes: Uint8Array;
}

/** The chosen token, and its alternatives. */
export interface TokenLogprobs extends TokenLogprob {
  /** The most likely tokens, the likeliest first. The chosen one may be among them. */
  top: readonly TokenLogprob[];
}

/** Tokens whose log-probabilities are made objects at once: some 20 alternatives each. */
const tokensAtOnce = 64;

/** Yields the log-probabilities of tokens, a part at a time. */
export function* logprobsOf({
  counts,
  tokens,
  values,
  ends,
  bytes,
}: NativeLogprobs): Generator<TokenLogprobs[], void, undefined> {
  let at = 0;
  const next = (): TokenLogprob => {
    const one = {
      token: tokens[at] as number,
      logprob: values[at] as number,
      bytes: bytes.subarray(at === 0 ? 0 : ends[at - 1], ends[at]),
    };
    at++;
    return one;
  };
  let part: TokenLogprobs[] = [];
  for (const count of counts) {
    part.push({ ...next(), top: Array.from({ length: count - 1 }, next) });
    if (part.length < tokensAtOnce) continue;
    yield part;
    part = [];
  }
  if (part.length > 0) yield part;
}
