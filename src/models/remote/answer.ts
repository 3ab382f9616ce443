import type { IncomingMessage } from 'node:http';

/** Reads a body; undefined, without reading on, if it is longer than `maxBytes`. @throws errors of the connection */
export async function readBounded(answer: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of answer as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > maxBytes) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts, bytes);
}

/** The longest pause that is told, in ms. */
const longestPauseMs = 3_600_000;

/** Returns the pause in ms that the server asked for: a number of seconds, or a date. Undefined if it asked for none. */
export function retryAfterMs(retryAfter: string | undefined, now = Date.now()): number | undefined {
  if (retryAfter === undefined) return undefined;
  const ms = /^\d+(\.\d+)?$/.test(retryAfter) ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - now;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), longestPauseMs);
}

/**
 * Whether an error is about the length of a text. No server has a code for it, and llama-server answers 500: the words of llama-server,
 * vLLM, TEI and OpenAI are all there is.
 */
export function speaksOfLength(status: number, body: Buffer | undefined): boolean {
  if (status === 413) return true;
  if (body === undefined || ![400, 422, 500].includes(status)) return false;
  return /exceed_context_size|context_length_exceeded|context (length|size|window)|too (large|long)|batch size|less than \d+ tokens|maximum input length/i.test(
    body.toString('utf8'),
  );
}

/** Returns a value as an object; an empty one for anything else. */
export const objectOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};

/** Returns a number of tokens that a server states; 0 if it is not one. */
export const countOf = (value: unknown): number =>
  Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : 0;

/** Returns a text without halves of characters: each becomes U+FFFD. */
export const wholeCharacters = (text: string): string => text.replace(/\p{Surrogate}/gu, '\ufffd');
