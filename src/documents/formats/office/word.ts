import { type Document, UnreadableDocument } from '../../document.js';
import { SectionBuilder } from '../section-builder.js';
import { Flow } from './flow.js';
import { readElements, textOf } from './xml-events.js';
import { ZipArchive } from './zip.js';

/** Reads a Word document: headings, paragraphs, items, tables, notes. @throws UnreadableDocument */
export function readWord(bytes: Buffer): Document {
  const zip = new ZipArchive(bytes);
  const main = zip.text('word/document.xml');
  if (main === undefined) throw new UnreadableDocument('is not a Word document');
  const sections = new SectionBuilder();
  const title = textOf(zip.text('docProps/core.xml'), 'dc:title');
  if (title !== undefined) sections.titleIfNone(title);
  const levels = headingLevels(zip.text('word/styles.xml'));
  readBody(main, levels, sections);
  for (const part of ['word/footnotes.xml', 'word/endnotes.xml', 'word/comments.xml'])
    readBody(zip.text(part), levels, sections);
  return sections.finish();
}

/** The levels of paragraph styles by id. The style of the title has level 1. */
function headingLevels(xml: string | undefined): Map<string, number> {
  const levels = new Map<string, number>();
  let style = '';
  readElements(xml, {
    open(name, attributes) {
      const value = attributes['w:val'] ?? '';
      if (name === 'w:style') style = attributes['w:styleId'] ?? '';
      else if (name === 'w:name') {
        const level = /^heading ([1-9])$/i.exec(value)?.[1];
        if (level !== undefined) levels.set(style, Number(level));
        else if (/^title$/i.test(value)) levels.set(style, 1);
      } else if (name === 'w:outlineLvl' && /^[0-8]$/.test(value)) levels.set(style, Number(value) + 1);
    },
  });
  return levels;
}

function readBody(
  xml: string | undefined,
  levels: ReadonlyMap<string, number>,
  sections: SectionBuilder,
): void {
  const flow = new Flow(sections);
  let level: number | undefined;
  let mark = '';
  let columns = 1;
  let inText = false;
  readElements(xml, {
    open(name, attributes) {
      const value = attributes['w:val'] ?? '';
      if (name === 'w:p') [level, mark] = [undefined, ''];
      else if (name === 'w:pStyle') level = levels.get(value) ?? levelOf(value);
      else if (name === 'w:outlineLvl' && /^[0-8]$/.test(value)) level = Number(value) + 1;
      else if (name === 'w:numPr') mark = '-';
      else if (name === 'w:t') inText = true;
      else if (/^w:(?:tab|br|cr|ptab)$/.test(name)) flow.text(' ');
      else if (name === 'w:noBreakHyphen') flow.text('-');
      else if (name === 'w:tbl') flow.openTable();
      else if (name === 'w:tr') flow.openRow();
      else if (name === 'w:tc') {
        flow.openCell();
        columns = 1;
      } else if (name === 'w:gridSpan') columns = Number(value) || 1;
    },
    text(text) {
      if (inText) flow.text(text);
    },
    close(name) {
      if (name === 'w:t') inText = false;
      else if (name === 'w:p') flow.endParagraph(level, mark);
      else if (name === 'w:tc') flow.closeCell(columns);
      else if (name === 'w:tbl') flow.closeTable();
    },
  });
}

/** The level of a style that is not described. */
function levelOf(style: string): number | undefined {
  const level = /^heading ?([1-9])$/i.exec(style)?.[1];
  return level === undefined ? undefined : Number(level);
}
