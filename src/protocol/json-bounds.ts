/** How deep and how rich a JSON text is, as its brackets and commas say. */
export interface JsonBounds {
  /** Deepest nesting of arrays and objects. */
  depth: number;
  /** Commas, arrays and objects: at least the number of values less one, and never many more. */
  values: number;
}

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;

/**
 * Measures a JSON text without parsing it, because parsing is what hostile nesting makes expensive: 64 MiB of "[" would
 * become gigabytes of arrays. Strings are skipped at memory speed. Stops early once a limit is passed.
 */
export function measureJson(text: Buffer, limits: JsonBounds): JsonBounds {
  let depth = 0;
  const bounds = { depth: 0, values: 0 };
  for (let at = 0; at < text.length; at++) {
    switch (text[at]) {
      case quote:
        at = endOfString(text, at + 1);
        break;
      case 0x5b: // [
      case 0x7b: // {
        depth++;
        bounds.values++;
        if (depth > bounds.depth) bounds.depth = depth;
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth--;
        break;
      case comma:
        bounds.values++;
        break;
    }
    if (bounds.depth > limits.depth || bounds.values > limits.values) break;
  }
  return bounds;
}

/** Position of the quote that closes the string whose content starts at `begin`; the text's length when none does. */
function endOfString(text: Buffer, begin: number): number {
  let from = begin;
  for (;;) {
    const end = text.indexOf(quote, from);
    if (end < 0) return text.length;
    let escapes = 0;
    while (end - 1 - escapes >= begin && text[end - 1 - escapes] === backslash) escapes++;
    if (escapes % 2 === 0) return end;
    from = end + 1;
  }
}
