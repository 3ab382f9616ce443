import type { Bytes } from './bytes.js';

/**
 * Memory estimates in bytes, measured once on Node.js 20 and rounded up, because an underestimate defeats the limits. Strings
 * take at most two bytes per character.
 */

/** One value of parsed JSON: an object or array of few members, with its place in the value around it. */
export const valueHeap = 64;

/** Bytes of a key besides its text: V8 makes a hidden class for each new sequence of keys. */
export const keyHeap = 48;

/** A pending request: promises, closures, the parsed frame. */
export const requestBase = 4096;

/** Number of values in a payload, and of keys of objects. */
export interface PayloadContent {
  readonly values: number;
  readonly keys: number;
}

/** A request: its payload, the strings in it (at most two bytes per character), and its values. */
export function requestBytes(payloadBytes: number, content: PayloadContent = { values: 0, keys: 0 }): Bytes {
  const heap = requestBase + 2 * payloadBytes + valueHeap * content.values + keyHeap * content.keys;
  return { heap, native: payloadBytes };
}

/** A connection without sessions: socket, decoder, loggers. */
export const connectionBytes: Bytes = { heap: 10 * 1024, native: 10 * 1024 };

/** A session without storages and agents. `folder`: its own root, as sent. */
export function sessionBytes(folder = ''): Bytes {
  return { heap: 5 * 1024 + 2 * textHeap(folder), native: 1024 };
}

/** A turn that has not ended, without its text and variables, which count with its request. */
export const turnBytes: Bytes = { heap: 8 * 1024, native: 0 };

/** A name of a session for a storage, without the storage. */
export const storageNameBytes: Bytes = { heap: 4 * 1024, native: 0 };

const agentHeap = 4096;
const nodeHeap = 1536;
const edgeHeap = 192;

export function textHeap(text: string): number {
  return 32 + 2 * text.length;
}

/** A turn that an agent remembers. */
export function historyTurnBytes(turn: { readonly text: string; readonly reply: string }): Bytes {
  return { heap: valueHeap + jsonHeap(turn), native: 0 };
}

/**
 * The frame of an exported history, whose turns take `history` bytes and count with their agent. At most half of `passing`, the
 * limit of what passes: a client can have everything that it may hold, two exports at a time.
 */
export function exportBytes(history: number, passing: number): Bytes {
  return { heap: 0, native: Math.min(1.5 * history, passing / 2 - requestBase) };
}

/** An agent with its nodes' params, except filters, which nodes compile and drop. */
export function agentBytes(graph: {
  readonly nodes: readonly { readonly id: string; readonly params: Readonly<Record<string, unknown>> }[];
  readonly edges: readonly (readonly [string, string])[];
}): Bytes {
  let heap = agentHeap;
  for (const { id, params } of graph.nodes) {
    heap += nodeHeap + 2 * textHeap(id) + jsonHeap({ ...params, filter: undefined });
  }
  for (const [from, to] of graph.edges) heap += edgeHeap + textHeap(from) + textHeap(to);
  return { heap, native: 0 };
}

function jsonHeap(value: unknown): number {
  const { values, keys, characters } = jsonSize(value);
  return valueHeap * values + keyHeap * keys + 2 * characters;
}

/** Values, keys of objects, and characters of parsed JSON. */
function jsonSize(value: unknown): { values: number; keys: number; characters: number } {
  const size = { values: 0, keys: 0, characters: 0 };
  const count = (part: unknown) => {
    size.values++;
    if (typeof part === 'string') size.characters += part.length;
    if (typeof part !== 'object' || part === null) return;
    const isArray = Array.isArray(part);
    for (const key in part) {
      if (!isArray) size.keys++;
      size.characters += key.length;
      count((part as Record<string, unknown>)[key]);
    }
  };
  count(value);
  return size;
}

/** Native bytes per value of a compiled filter, besides its texts. */
const filterValue = 160;

/** A compiled filter, with the two bits per record that it caches. */
export function filterBytes(expression: unknown, records: number): Bytes {
  if (expression === undefined) return { heap: 0, native: 0 };
  const { values, characters } = jsonSize(expression);
  return { heap: 2048, native: filterValue * values + 3 * characters + Math.ceil(records / 4) };
}

/** Bytes of a line of a text file besides its text. */
const lineHeap = 64;

export function linesBytes(lines: readonly string[]): Bytes {
  return { heap: lines.reduce((sum, line) => sum + lineHeap + textHeap(line), 0), native: 0 };
}

/** Native bytes per string of an inline storage, besides text and vector: ids, offsets, graph, postings. */
const stringNative = 512;

/** An inline storage of texts of `bytes` while it is built: vectors and texts exist twice then. */
export function inlineStorageBytes(strings: number, bytes: number, dimension: number): Bytes {
  return {
    heap: 4096 + 128 * strings,
    native: 64 * 1024 + strings * (stringNative + 2 * 4 * dimension) + 3 * bytes,
  };
}

/** A hit without its text. */
const hitHeap = 1024;

/** The hits of one search, as objects, as JSON text and as the bytes of a frame. */
export function hitsBytes(hits: number, textBytes: number): Bytes {
  return { heap: hits * hitHeap + 2 * textBytes, native: hits * 256 + 2 * textBytes };
}

/** Bytes of a millisecond of audio at 16 kHz. */
const audioMs = 64;

/** A stream of speech: `credit` samples that may arrive, the running segment and ended ones that wait for their text, in ms. */
export function speechBytes(credit: number, segmentMs: number, waitingMs: number): Bytes {
  // Kept audio has room for half as much again.
  const native = 1.5 * (4 * credit + audioMs * segmentMs) + audioMs * waitingMs;
  return { heap: 16 * 1024, native: Math.ceil(native) };
}
