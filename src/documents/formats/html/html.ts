import { Parser, type ParserOptions } from 'htmlparser2';
import type { Document } from '../../document.js';
import { SectionBuilder } from '../section-builder.js';
import { HtmlReader } from './html-reader.js';

/** Reads the text of an HTML page: headings, paragraphs, list items, table rows, code. */
export function readHtml(text: string): Document {
  return read(text, {});
}

/** Reads an XHTML page, in which every element may close itself. */
export function readXhtml(text: string): Document {
  return read(text, { recognizeSelfClosing: true, recognizeCDATA: true });
}

function read(text: string, options: ParserOptions): Document {
  const sections = new SectionBuilder();
  const reader = new HtmlReader(sections);
  const isXhtml = /^\s*<\?xml\b/.test(text.slice(0, 200));
  const parser = htmlParser(
    reader,
    isXhtml ? { ...options, recognizeSelfClosing: true, recognizeCDATA: true } : options,
  );
  parser.write(text);
  parser.end();
  reader.finish();
  return sections.finish();
}

/** Returns a parser that reports to a reader. */
export function htmlParser(reader: HtmlReader, options: ParserOptions = {}): Parser {
  return new Parser(reader, { decodeEntities: true, lowerCaseTags: true, ...options });
}
