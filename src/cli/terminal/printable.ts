/** Marks that reorder the text around them, and line separators: harmless in a file, misleading on a terminal. */
const misleading = /[\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/u;

const unsafe = new RegExp(`[\\p{Cc}\\p{Cs}]|${misleading.source}`, 'gu');

/**
 * A text that a terminal shows and does not obey: control characters become their pictures (U+2400 and on), what has
 * none becomes U+FFFD. Line breaks and tabs are control characters, too.
 */
export function printable(text: string): string {
  return text.replace(unsafe, picture);
}

/** The same, on one line: white space becomes single spaces. */
export function printableLine(text: string): string {
  return printable(text.replace(/\s+/gu, ' ').trim());
}

/** JSON on one line or several, in which everything that a terminal would obey is escaped. */
export function printableJson(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, (_, item) => (typeof item === 'bigint' ? String(item) : item), indent);
  return text.replace(unsafe, (character) =>
    character === '\n' ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function picture(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? '\u2421' : '\ufffd';
}
