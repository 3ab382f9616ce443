import type { Token } from 'markdown-it';

/** The part of an inline token that a reader sees: marks, addresses and tags are left out, code and alternative texts stay. */
export function visibleText(inline: Token, onNote: (label: string) => void = () => {}): string {
  // A text that the parser did not split.
  if (inline.children === null || inline.children.length === 0) return inline.content;
  const parts: string[] = [];
  append(inline.children, parts, onNote);
  return parts.join('');
}

/** GitHub shows these tags instead of obeying them. */
const shownTag = /^<\/?(?:title|textarea|style|xmp|iframe|noembed|noframes|script|plaintext)\b/i;

function append(tokens: readonly Token[], parts: string[], onNote: (label: string) => void): void {
  for (const token of tokens) {
    if (token.type === 'softbreak' || token.type === 'hardbreak') parts.push('\n');
    else if (token.type === 'image') append(token.children ?? [], parts, onNote);
    else if (token.type === 'html_inline') parts.push(textOfTag(token.content));
    else if (token.type === 'footnote_ref') {
      const label = String(token.meta.label);
      parts.push(`[${label}]`);
      onNote(label);
    } else if (token.type === 'text' || token.type === 'text_special' || token.type === 'code_inline')
      parts.push(token.content);
  }
}

function textOfTag(tag: string): string {
  if (/^<br\b/i.test(tag)) return '\n';
  return shownTag.test(tag) ? tag : '';
}
