import type { Piece, TokenLogprob, TokenLogprobs } from '../text-model.js';
import { countOf, objectOf, wholeCharacters } from './answer.js';

/** What an event of a streamed reply says. */
export interface ChatChunk {
  readonly failed: boolean;
  /** It may begin or end with half a character. */
  readonly text: string;
  readonly thinking: string;
  readonly logprobs: TokenLogprobs[] | undefined;
  /** Set when the reply has ended. */
  readonly finish: 'stop' | 'length' | undefined;
  readonly usage:
    | { readonly prompt: number; readonly cached: number; readonly completion: number }
    | undefined;
}

/** Returns what an event says; undefined if it is not JSON. */
export function chatChunk(data: string): ChatChunk | undefined {
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch {
    return undefined;
  }
  const { choices, usage, error } = objectOf(value);
  const {
    delta,
    finish_reason: reason,
    logprobs,
  } = objectOf(Array.isArray(choices) ? choices[0] : undefined);
  const { content, reasoning_content, reasoning } = objectOf(delta);
  const counts = objectOf(usage);
  return {
    failed: error !== undefined && error !== null,
    text: textOf(content),
    thinking: wholeCharacters(textOf(reasoning_content) || textOf(reasoning)),
    logprobs: logprobsOf(objectOf(logprobs).content),
    finish: typeof reason === 'string' ? (reason === 'length' ? 'length' : 'stop') : undefined,
    usage:
      usage === undefined || usage === null
        ? undefined
        : {
            prompt: countOf(counts.prompt_tokens),
            cached: countOf(objectOf(counts.prompt_tokens_details).cached_tokens),
            completion: countOf(counts.completion_tokens),
          },
  };
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Tokens of other servers have no ids here. */
const noId = -1;
/** Alternatives of a token, at most: as many as requests may ask for. */
const mostAlternatives = 100;
/** Tokens of an event that are read, and bytes of a token: servers send a few at a time. */
const mostTokens = 1000;
const mostBytes = 1024;
/** Alternatives of all tokens of an event that are read: each takes about a microsecond. */
const mostInEvent = 10_000;

function logprobsOf(content: unknown): Piece['logprobs'] {
  if (!Array.isArray(content)) return undefined;
  let left = mostInEvent;
  return content.slice(0, mostTokens).map((each) => {
    const { top_logprobs: given } = objectOf(each);
    const top = Array.isArray(given) ? given.slice(0, Math.min(mostAlternatives, left)) : [];
    left -= top.length;
    return { ...logprobOf(each), top: top.map(logprobOf) };
  });
}

function logprobOf(value: unknown): TokenLogprob {
  const { token, logprob, bytes } = objectOf(value);
  return {
    token: noId,
    logprob: typeof logprob === 'number' && logprob <= 0 ? logprob : Number.NEGATIVE_INFINITY,
    bytes: Array.isArray(bytes)
      ? Uint8Array.from(bytes.slice(0, mostBytes), Number)
      : Buffer.from(textOf(token)),
  };
}
