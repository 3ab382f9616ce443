/**
 * Returns at most the first `length` UTF-16 units of a text, without half a character. The result does not keep the whole text
 * in memory, as a slice does.
 */
export function textPrefix(text: string, length: number): string {
  if (text.length <= length) return text;
  const last = text.charCodeAt(length - 1);
  const splits = last >= 0xd800 && last <= 0xdbff;
  return Buffer.from(text.slice(0, splits ? length - 1 : length), 'utf16le').toString('utf16le');
}
