import type { Block, Document } from '../document.js';
import { plainInline } from './inline.js';
import { SectionBuilder } from './section-builder.js';

/** A longer line is text, whatever it begins with. */
const longestMark = 2000;

const fence = /^\s*(`{3,}|~{3,})\s*([\w#+.-]{0,40})/;
const heading = /^ {0,3}(#{1,6})(?:[ \t]+(.*))?$/;
const item = /^(\s*)([-*+]|\d{1,9}[.)])[ \t]+/;
const rule = /^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/;
const definition = /^ {0,3}\[[^[\]]{1,200}\]:\s/;

/** Reads Markdown: headings, paragraphs, list items, tables, code. Any text is Markdown. */
export function readMarkdown(text: string): Document {
  return new MarkdownReader(text.split(/\r\n?|\n/)).read();
}

class MarkdownReader {
  readonly #lines: readonly string[];
  readonly #sections = new SectionBuilder();
  #at = 0;
  #kind: Block['kind'] = 'prose';
  #pending: string[] = [];

  constructor(lines: readonly string[]) {
    this.#lines = lines;
  }

  read(): Document {
    this.#readFrontMatter();
    while (this.#at < this.#lines.length) this.#readLine(this.#lines[this.#at] as string);
    this.#finishBlock();
    return this.#sections.finish();
  }

  /** YAML between two lines of hyphens, or TOML between two of plus signs; only the title is used. */
  #readFrontMatter(): void {
    const mark = this.#lines[0]?.trimEnd();
    if (mark !== '---' && mark !== '+++') return;
    const ends = mark === '+++' ? /^\+\+\+\s*$/ : /^(---|\.\.\.)\s*$/;
    const end = this.#lines.slice(1, 1000).findIndex((line) => ends.test(line));
    if (end < 0) return;
    for (const line of this.#lines.slice(1, end + 1)) {
      const title = /^title\s*[:=]\s*(.{1,500})$/.exec(line)?.[1]?.trim();
      if (title !== undefined) this.#sections.title(title.replace(/^(["'])(.*)\1$/, '$2'));
    }
    this.#at = end + 2;
  }

  #readLine(line: string): void {
    const marked = line.length <= longestMark ? line : '';
    const opening = fence.exec(marked);
    if (opening !== null) this.#readFence(opening[1] as string, opening[2] as string);
    else if (/^\s*<!--/.test(marked)) this.#skipComment();
    else {
      this.#at++;
      this.#readBlockLine(line, marked);
    }
  }

  #readBlockLine(line: string, marked: string): void {
    const title = heading.exec(marked);
    const begins = this.#pending.length === 0;
    if (line.trim() === '') this.#finishBlock();
    else if (title !== null) this.#heading((title[1] as string).length, title[2] ?? '');
    else if (this.#isUnderline(marked)) this.#heading(marked.trim().startsWith('=') ? 1 : 2, this.#take());
    else if (rule.test(marked)) this.#finishBlock();
    else if (this.#isTable(line)) this.#readTable(line);
    else if (begins && this.#kind !== 'item' && /^(?: {4}|\t)/.test(line)) this.#readIndented();
    else if (!(begins && definition.test(marked))) this.#addText(line, marked);
  }

  #addText(line: string, marked: string): void {
    const mark = item.exec(marked);
    if (mark !== null) {
      this.#finishBlock();
      this.#kind = 'item';
    } else if (this.#pending.length === 0 && !/^\s/.test(line)) this.#kind = 'prose';
    const text = mark === null ? line.replace(/^\s{0,3}(?:>\s?){1,9}/, '') : line.trimStart();
    if (text.trim() !== '') this.#pending.push(text.trim());
  }

  #heading(level: number, text: string): void {
    this.#finishBlock();
    this.#kind = 'prose';
    this.#sections.heading(
      level,
      plainInline(text.replace(/(?:^|[ \t])#{1,20}[ \t]*$/, '')).replaceAll('`', ''),
    );
  }

  /** Whether a line of hyphens or equals signs makes the paragraph above it a heading. */
  #isUnderline(line: string): boolean {
    return this.#kind === 'prose' && this.#pending.length > 0 && /^ {0,3}(?:=+|-+)[ \t]*$/.test(line);
  }

  #take(): string {
    const text = this.#pending.join(' ');
    this.#pending = [];
    return text;
  }

  #finishBlock(): void {
    if (this.#pending.length === 0) return;
    this.#sections.add({ kind: this.#kind, text: plainInline(this.#take()) });
  }

  #readFence(marks: string, language: string): void {
    this.#finishBlock();
    const begin = ++this.#at;
    const mark = marks[0] as string;
    const closes = (line: string) => {
      const shown = line.length <= longestMark ? line.trim() : '';
      return shown.length >= marks.length && [...shown].every((character) => character === mark);
    };
    while (this.#at < this.#lines.length && !closes(this.#lines[this.#at] as string)) this.#at++;
    const text = this.#lines.slice(begin, this.#at).join('\n');
    this.#at++;
    this.#sections.add({ kind: 'code', text: text.replace(/^\n+/, '').trimEnd(), head: language });
  }

  #readIndented(): void {
    const begin = this.#at - 1;
    while (/^(?: {4}|\t|\s*$)/.test(this.#lines[this.#at] ?? 'end')) this.#at++;
    const lines = this.#lines.slice(begin, this.#at).map((line) => line.replace(/^(?: {4}|\t)/, ''));
    this.#sections.add({ kind: 'code', text: lines.join('\n').trimEnd(), head: '' });
  }

  #skipComment(): void {
    while (this.#at < this.#lines.length && !this.#lines[this.#at]?.includes('-->')) this.#at++;
    const rest = this.#lines[this.#at]?.split('-->').slice(1).join('-->').trim();
    this.#at++;
    if (rest) this.#addText(rest, rest);
  }

  /** A row above a line of hyphens and bars. */
  #isTable(line: string): boolean {
    const next = this.#lines[this.#at] ?? '';
    return (
      this.#pending.length === 0 &&
      line.includes('|') &&
      next.length <= longestMark &&
      next.includes('-') &&
      next.includes('|') &&
      /^[\s|:-]+$/.test(next)
    );
  }

  #readTable(first: string): void {
    const head = row(first);
    for (this.#at++; this.#lines[this.#at]?.includes('|') && this.#lines[this.#at]?.trim(); this.#at++) {
      this.#sections.add({ kind: 'row', text: row(this.#lines[this.#at] as string), head });
    }
  }
}

function row(line: string): string {
  const cells = line
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '')
    .split(/(?<!\\)\|/);
  // Also within code: GitHub's tables have no other way to write a bar.
  return cells.map((cell) => plainInline(cell.trim().replaceAll('\\|', '|'))).join(' | ');
}
