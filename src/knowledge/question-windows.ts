/** At most as many windows of a question are embedded: of a longer one, as many from its beginning as from its end. */
export const maxWindows = 32;

/** Texts without a blank are cut anywhere, at most so many characters before or after the wanted place. */
const reach = 64;

/**
 * Returns a question's windows in order: pieces of about `characters`, cut between words where there is a blank nearby, and
 * short ones at both ends, where people write what they ask about a long text.
 */
export function questionWindows(text: string, characters: number): string[] {
  const size = Math.max(1, Math.floor(characters));
  const whole = pieces(text, size);
  const half = maxWindows / 2 - 1;
  const chosen = whole.length > 2 * half ? [...whole.slice(0, half), ...whole.slice(-half)] : whole;
  const short = Math.ceil(size / shortShare);
  const first = text.slice(0, cutNear(text, short));
  const last = text.slice(cutNear(text, text.length - short));
  return [first, ...chosen, last].filter((window) => window.trim() !== '');
}

/** A short window is this share of a whole one. */
const shortShare = 12;

function pieces(text: string, size: number): string[] {
  const found: string[] = [];
  for (let begin = 0; begin < text.length; ) {
    const end = text.length - begin <= size ? text.length : Math.max(begin + 1, cutNear(text, begin + size));
    found.push(text.slice(begin, end));
    begin = end;
  }
  return found;
}

/** Returns a place near `at` that follows a blank, or one that does not cut a character. */
function cutNear(text: string, at: number): number {
  if (at <= 0 || at >= text.length) return Math.min(Math.max(at, 0), text.length);
  for (let back = 0; back <= reach && at - back > 0; back++) {
    if (/\s/.test(text[at - back - 1] as string)) return at - back;
  }
  return /[\udc00-\udfff]/.test(text[at] as string) ? at - 1 : at;
}
