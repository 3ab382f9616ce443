/** Ends of sentences before ends of words. */
const breaks = [/[.!?…]\s+(?=\S)|[。！？]|\n+/gu, /\s+/gu];

/**
 * Cuts a text into about `parts` pieces of about the same length, at ends of sentences or words where there are some. The pieces are
 * not blank. A text of one character is one piece.
 */
export function halves(text: string, parts: number): string[] {
  const pieces: string[] = [];
  const length = Math.ceil(text.length / Math.max(2, parts));
  let rest = text.trim();
  while (rest.length > length) {
    const end = endOfPiece(rest, length);
    pieces.push(rest.slice(0, end).trim());
    rest = rest.slice(end).trim();
  }
  return [...pieces, rest].filter((piece) => piece !== '');
}

/** Returns where a piece of at most `length` characters ends: after its middle if possible. */
function endOfPiece(text: string, length: number): number {
  const piece = text.slice(0, length + 1);
  for (const pattern of breaks) {
    const ends = Array.from(piece.matchAll(pattern), ({ index, 0: { length: more } }) => index + more);
    const last = ends.findLast((end) => end <= length && end > length / 2);
    if (last !== undefined) return last;
  }
  const end = Math.max(1, length);
  // A surrogate pair stays whole.
  return /[\uD800-\uDBFF]/.test(text[end - 1] ?? '') && end < text.length ? end + 1 : end;
}
