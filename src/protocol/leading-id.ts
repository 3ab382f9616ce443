import { type RequestId, requestIdSchema } from './frames.js';

/** How far into a payload an id is looked for: clients write it before what may be long. */
const searchedBytes = 4096;

/** A JSON text's tokens: strings, brackets, commas, colons, and runs of anything else that is not blank. */
const token = /"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s"[\]{},:]+/gy;

/**
 * The id of a request that is not parsed, because it is nested too deep or no JSON in the end: the first field `id` of the
 * outermost object, within the first 4 KiB.
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
    // Bytes that are not UTF-8 are replaced: that is not the id that was sent.
    return id.success && !text.includes('\ufffd') ? id.data : null;
  } catch {
    return null;
  }
}
