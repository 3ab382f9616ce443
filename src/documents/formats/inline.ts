/** Longest text between the brackets of a link; longer ones stay as they are, which bounds the work. */
const link =
  /!?\[((?:[^[\]\\]|\\.){0,500})\](?:\(\s{0,9}(?:<[^<>\n]{0,2000}>|[^()\s]{0,2000}(?:\([^()\s]{0,200}\)[^()\s]{0,2000})?)(?:\s{1,9}["'][^"'\n]{0,500}["'])?\s{0,9}\)|\[[^[\]]{0,200}\])/g;

/** The HTML that people write into Markdown. Other text in angle brackets, such as Map<string>, stays. */
const tag =
  /<\/?(?:a|abbr|b|blockquote|br|center|code|dd|details|div|dl|dt|em|figcaption|figure|font|h[1-6]|hr|i|iframe|img|kbd|li|ol|p|picture|pre|s|small|source|span|strong|sub|summary|sup|table|tbody|td|th|thead|tr|u|ul|video)(?:\s[^<>]{0,2000})?\/?>/gi;

const emphasis = /(?<![\p{L}\p{N}*\\])\*{1,3}(?=[^\s*])|(?<=[^\s*\\])\*{1,3}(?![\p{L}\p{N}*])/gu;

const escaped = /\\([!-/:-@[-`{-~])/g;

/** Removes Markdown's marks from a text. Code between backticks and the backticks stay. */
export function plainInline(text: string): string {
  if (!/[*[<\\~]/.test(text)) return text;
  return text
    .split(/(`[^`\n]*`)/)
    .map((part, at) => (at % 2 === 1 ? part : withoutMarks(part)))
    .join('');
}

function withoutMarks(text: string): string {
  // Twice: an image may be within a link.
  return text
    .replace(link, '$1')
    .replace(link, '$1')
    .replace(/<((?:https?|mailto):[^<>\s]{1,2000})>/g, '$1')
    .replace(tag, (found) => (/^<br/i.test(found) ? ' ' : ''))
    .replace(emphasis, '')
    .replaceAll('~~', '')
    .replace(escaped, '$1');
}
