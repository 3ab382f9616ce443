import { type RequestId, requestIdSchema } from './frames.js';

/** Bytes searched for an id: clients write it before long fields. */
const searchedBytes = 4096;

/** The tokens of a JSON text: strings, brackets, commas, colons, and runs of other non-blank characters. */
const token = /"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s"[\]{},:]+/gy;

/**
 * Returns the id of a request that cannot be parsed (too deeply nested, invalid JSON): the first field `id` of the
 * outermost object within the first 4 KiB.
 */
export function leadingId(payload: Buffer): RequestId | null {
  const text = payload.toString('utf8', 0, searchedBytes).trimStart();
  if (!text.startsWith('{')) return null;
  let depth = 0;
  let key: string | undefined;
  let previous = '';
  token.lastIndex = 0;
  for (;;) {
    while (/\s/.test(text[token.lastIndex] ?? '')) token.lastIndex++;
    const found = token.exec(text)?.[0];
    if (found === undefined) return null;
    if (previous === ':' && depth === 1 && key === '"id"') return parsedId(found);
    if (found === ':' && depth === 1) key = previous;
    if (found === '{' || found === '[') depth++;
    if (found === '}' || found === ']') depth--;
    previous = found;
  }
}

function parsedId(text: string): RequestId | null {
  try {
    const id = requestIdSchema.safeParse(JSON.parse(text));
    // Invalid UTF-8 was replaced: this is not the id that was sent.
    return id.success && !text.includes('\ufffd') ? id.data : null;
  } catch {
    return null;
  }
}
