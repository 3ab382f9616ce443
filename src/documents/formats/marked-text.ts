import type { Block, Document } from '../document.js';
import { SectionBuilder } from './section-builder.js';

/** Finds a heading at a line: its level and text, and the lines that it takes. */
type HeadingOf = (
  lines: readonly string[],
  at: number,
) => { level: number; text: string; lines: number } | undefined;

const longestMark = 300;

const asciiDoc: HeadingOf = (lines, at) => {
  const [, marks, text] = /^(={1,6})[ \t]+(\S.*)$/.exec(short(lines[at])) ?? [];
  return marks === undefined ? undefined : { level: marks.length, text: text as string, lines: 1 };
};

const org: HeadingOf = (lines, at) => {
  const line = short(lines[at]);
  const title = /^#\+TITLE:[ \t]*(\S.*)$/i.exec(line)?.[1];
  if (title !== undefined) return { level: 1, text: title, lines: 1 };
  const [, marks, text] = /^(\*{1,8})[ \t]+(?:(?:TODO|DONE)[ \t]+)?(\S.*)$/.exec(line) ?? [];
  if (marks === undefined) return undefined;
  return { level: marks.length + 1, text: (text as string).replace(/[ \t]+:[\w@:]{1,100}:$/, ''), lines: 1 };
};

/** A line of one punctuation character, as long as the text above it; levels are in the order in which the marks occur. */
function restructured(): HeadingOf {
  const styles: string[] = [];
  const levelOf = (style: string) =>
    (styles.includes(style) ? styles : [...styles, style]).indexOf(style) + 1;
  const isRule = (line: string) => /^([=\-`:.'"~^_*+#<>])\1{2,}$/.test(line);
  return (lines, at) => {
    const [first, second, third] = [0, 1, 2].map((offset) => short(lines[at + offset]).trimEnd());
    const over = isRule(first as string) && first === third && (second as string).trim() !== '';
    const text = over ? (second as string) : (first as string);
    const rule = over ? (third as string) : (second as string);
    if (text.trim() === '' || isRule(text) || !isRule(rule) || rule.length < text.trim().length)
      return undefined;
    const style = `${over ? 'over' : ''}${rule[0]}`;
    const level = levelOf(style);
    if (!styles.includes(style)) styles.push(style);
    return { level, text: text.trim(), lines: over ? 3 : 2 };
  };
}

const short = (line: string | undefined) => (line === undefined || line.length > longestMark ? '' : line);

/** Lines that are no text: options, directives, comments, drawers. */
const unseen = {
  asciidoc: /^(?::[\w-]{1,60}:|\/\/|\[[^\]]{0,200}\]$|[-=.*+_]{4,}$)/,
  org: /^(?:#\+(?!TITLE)\w|#[ \t]|[ \t]*:[A-Z_-]{1,40}:)/i,
  restructured: /^\.\.[ \t]+(?:_[^:]{1,100}:|\w[\w-]{0,60}::[ \t]*$)|^[ \t]+:[\w-]{1,60}:[ \t]*$/,
} as const;

/** Reads AsciiDoc: headings and paragraphs. */
export const readAsciiDoc = (text: string): Document => read(text, asciiDoc, unseen.asciidoc);

/** Reads Org: headings and paragraphs. */
export const readOrg = (text: string): Document => read(text, org, unseen.org);

/** Reads reStructuredText: headings and paragraphs. */
export const readRestructured = (text: string): Document => read(text, restructured(), unseen.restructured);

function read(text: string, headingOf: HeadingOf, hidden: RegExp): Document {
  const lines = text.split(/\r\n?|\n|\f/);
  const sections = new SectionBuilder();
  let paragraph: string[] = [];
  const finish = () => {
    const kind: Block['kind'] = /^\s*(?:[-*+.]|\d{1,9}[.)])[ \t]/.test(paragraph[0] ?? '') ? 'item' : 'prose';
    if (paragraph.length > 0) sections.add({ kind, text: paragraph.join('\n') });
    paragraph = [];
  };
  for (let at = 0; at < lines.length; at++) {
    const heading = paragraph.length === 0 ? headingOf(lines, at) : undefined;
    const line = lines[at] as string;
    if (heading !== undefined) {
      sections.heading(heading.level, heading.text);
      at += heading.lines - 1;
    } else if (line.trim() === '') finish();
    else if (!hidden.test(short(line))) paragraph.push(line.trimEnd());
  }
  finish();
  return sections.finish();
}
