import { terminalControl, unicodeEscape } from '../../base/schema/terminal-control.js';

export { printable, printableLine } from '../../base/schema/printable.js';

/** JSON with every character escaped that would control a terminal. */
export function printableJson(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, (_, item) => (typeof item === 'bigint' ? String(item) : item), indent);
  return text.replace(terminalControl, (character) =>
    character === '\n' ? character : unicodeEscape(character),
  );
}
