import { terminalControl } from './terminal-control.js';

/**
 * A text without terminal control: control characters, line breaks and tabs included, become their pictures (from
 * U+2400 on), or U+FFFD where there is none.
 */
export function printable(text: string): string {
  return text.replace(terminalControl, picture);
}

/** The same on one line: runs of white space become single spaces. */
export function printableLine(text: string): string {
  return printable(text.replace(/\s+/gu, ' ').trim());
}

function picture(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? '\u2421' : '\ufffd';
}
