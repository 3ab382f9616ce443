import { type Document, UnreadableDocument } from '../../document.js';
import { SectionBuilder } from '../section-builder.js';
import { Flow } from './flow.js';
import { readElements, textOf } from './xml-events.js';
import { ZipArchive } from './zip.js';

/** Elements whose text is not of the document. */
const unseen = /^(?:office:annotation|text:tracked-changes|office:forms|svg:title|svg:desc)$/;

/** Reads a text, a spreadsheet or a presentation of OpenDocument. @throws UnreadableDocument */
export function readOpenDocument(bytes: Buffer): Document {
  const zip = new ZipArchive(bytes);
  const content = zip.text('content.xml');
  if (content === undefined) throw new UnreadableDocument('is not an OpenDocument file');
  const sections = new SectionBuilder();
  const title = textOf(zip.text('meta.xml'), 'dc:title');
  if (title !== undefined) sections.titleIfNone(title);
  const flow = new Flow(sections);
  let [hidden, lists, paragraphs, columns, repeated] = [0, 0, 0, 1, 1];
  let level = 1;
  readElements(content, {
    open(name, attributes) {
      if (unseen.test(name)) hidden++;
      if (hidden > 0) return;
      if (name === 'text:h' || name === 'text:p') {
        paragraphs++;
        level = Number(attributes['text:outline-level'] ?? 1) || 1;
      } else if (/^text:(?:s|tab|line-break)$/.test(name)) flow.text(' ');
      else if (name === 'text:list-item') lists++;
      else if (name === 'table:table') {
        if (attributes['table:name'] !== undefined && content.includes('<office:spreadsheet'))
          sections.heading(2, attributes['table:name']);
        flow.openTable();
      } else if (name === 'draw:page') sections.heading(2, attributes['draw:name'] ?? '');
      else if (name === 'table:table-row') flow.openRow();
      else if (name === 'table:table-cell' || name === 'table:covered-table-cell') {
        columns = Number(attributes['table:number-columns-spanned'] ?? 1) || 1;
        repeated = Number(attributes['table:number-columns-repeated'] ?? 1) || 1;
        flow.openCell();
      }
    },
    text(text) {
      if (hidden === 0 && paragraphs > 0) flow.text(text);
    },
    close(name) {
      if (unseen.test(name)) hidden--;
      else if (hidden > 0) return;
      else if (name === 'text:h' || name === 'text:p') {
        paragraphs--;
        flow.endParagraph(name === 'text:h' ? level : undefined, lists > 0 ? '-' : '');
      } else if (name === 'text:list-item') lists--;
      else if (name === 'table:table-cell') flow.closeCell(Math.max(columns, repeated));
      else if (name === 'table:covered-table-cell') flow.closeCell(0);
      else if (name === 'table:table') flow.closeTable();
    },
  });
  return sections.finish();
}
