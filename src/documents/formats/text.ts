import type { Block, Document, Section } from '../document.js';

/** Colours and movements of terminals, and links and titles of their windows. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the escape character begins them
const escapes = /\u001b(?:\[[\d;:?]{0,40}[@-~]|\][^\u0007\u001b\n]{0,2000}(?:\u0007|\u001b\\))/g;

/** Returns a text without what programs write to control a terminal. */
export const withoutEscapes = (text: string): string =>
  text.includes('\u001b') ? text.replace(escapes, '') : text;

/** Reads plain text: paragraphs separated by blank lines. */
export function readText(text: string): Document {
  return { sections: [{ headings: [], anchor: '', blocks: paragraphs(withoutEscapes(text)) }] };
}

/** Pages become sections. */
export function readPages(pages: readonly string[], title: string | undefined): Document {
  const sections = pages.map((text, at): Section => {
    const page = at + 1;
    return { headings: [], anchor: `page=${page}`, page, blocks: paragraphs(text) };
  });
  return { title, sections };
}

/** Returns the parts of a text between blank lines. */
export function paragraphs(text: string): Block[] {
  const blocks: Block[] = [];
  let lines: string[] = [];
  const finish = () => {
    if (lines.length > 0) blocks.push({ kind: 'prose', text: lines.join('\n') });
    lines = [];
  };
  for (const line of text.split(/\r\n?|\n|\f/)) {
    if (line.trim() === '') finish();
    else lines.push(line.trimEnd());
  }
  finish();
  return blocks;
}
