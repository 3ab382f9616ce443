import { Parser, type ParserOptions } from 'htmlparser2';
import type { Document } from '../../document.js';
import { optionalPackage } from '../optional-package.js';
import { SectionBuilder } from '../section-builder.js';
import { HtmlReader } from './html-reader.js';

/** Reads the text of an HTML page: headings, paragraphs, list items, table rows, code. */
export function readHtml(text: string): Document {
  return read(text, {});
}

/** The part of linkedom that is used. */
interface Linkedom {
  parseHTML(text: string): { document: Page };
}

interface Page {
  readonly body: { innerHTML: string };
  querySelector(selector: string): { readonly innerHTML: string; readonly outerHTML: string } | null;
  toString(): string;
}

/** The part of @mozilla/readability that is used. */
interface ReaderView {
  readonly Readability: new (page: Page) => { parse(): { readonly content?: string | null } | null };
}

/**
 * Reads the main text of a page: what a browser's reader view shows; the whole page where there is none.
 * @throws UnreadableDocument if a package for it is missing
 */
export async function readArticle(text: string, read: (text: string) => Document): Promise<Document> {
  const { parseHTML } = (await optionalPackage('linkedom')) as Linkedom;
  const { Readability } = (await optionalPackage('@mozilla/readability')) as ReaderView;
  const page = wholePage(text);
  const main = mainText(new Readability(parseHTML(page).document));
  if (!main) return read(text);
  const { document } = parseHTML(page);
  // The heading that repeats the title is taken out of the main text.
  const heading = document.querySelector('h1');
  const title = heading === null || main.includes(`>${heading.innerHTML}<`) ? '' : heading.outerHTML;
  document.body.innerHTML = title + main;
  return read(document.toString());
}

/** The HTML of the main text. Of some broken pages a DOM is made that Readability does not expect: these have none either. */
function mainText(readability: InstanceType<ReaderView['Readability']>): string | undefined {
  try {
    return readability.parse()?.content ?? undefined;
  } catch {
    return undefined;
  }
}

/** Adds the elements that HTML lets a page leave out. */
function wholePage(text: string): string {
  if (/<html[\s>]/i.test(text)) return text;
  return /<body[\s>]/i.test(text) ? `<html>${text}</html>` : `<html><body>${text}</body></html>`;
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
