/**
 * Characters that control a terminal or mislead its reader: control characters, halves of surrogate pairs, line separators
 * and bidirectional controls.
 */
export const terminalControl =
  /[\p{Cc}\p{Cs}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu;

/** Returns a character as JSON can escape it: \u and four digits. */
export const unicodeEscape = (character: string): string =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
