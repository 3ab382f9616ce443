import { posix } from 'node:path';
import { type Document, UnreadableDocument } from '../../document.js';
import { htmlParser } from '../html/html.js';
import { HtmlReader } from '../html/html-reader.js';
import { SectionBuilder } from '../section-builder.js';
import { readElements, textOf } from './xml-events.js';
import { ZipArchive } from './zip.js';

/** Reads an EPUB book: its chapters in reading order. @throws UnreadableDocument */
export function readEpub(bytes: Buffer): Document {
  const zip = new ZipArchive(bytes);
  let packagePath: string | undefined;
  readElements(zip.text('META-INF/container.xml'), {
    open: (name, attributes) => {
      if (/(?:^|:)rootfile$/.test(name)) packagePath ??= attributes['full-path'];
    },
  });
  const description = packagePath === undefined ? undefined : zip.text(packagePath);
  if (packagePath === undefined || description === undefined) throw new UnreadableDocument('is not a book');
  const items = new Map<string, { href: string; isNavigation: boolean }>();
  const spine: string[] = [];
  readElements(description, {
    open(name, { id, href, properties, idref }) {
      if (/(?:^|:)item$/.test(name) && id !== undefined && href !== undefined)
        items.set(id, { href, isNavigation: /(?:^|\s)nav(?:\s|$)/.test(properties ?? '') });
      else if (/(?:^|:)itemref$/.test(name) && idref !== undefined) spine.push(idref);
    },
  });
  const sections = new SectionBuilder();
  const title = textOf(description, 'dc:title');
  if (title !== undefined) sections.title(title);
  // A book may name one chapter a million times.
  for (const id of new Set(spine)) {
    const item = items.get(id);
    if (item === undefined || item.isNavigation) continue;
    const path = posix.join(posix.dirname(packagePath), decoded(item.href.replace(/#.*$/, '')));
    addChapter(zip.text(path), sections);
  }
  return sections.finish();
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

function addChapter(xhtml: string | undefined, sections: SectionBuilder): void {
  if (xhtml === undefined) return;
  const reader = new HtmlReader(sections);
  const parser = htmlParser(reader, { recognizeSelfClosing: true, recognizeCDATA: true });
  parser.write(xhtml);
  parser.end();
  reader.finish();
}
