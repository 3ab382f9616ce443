import { type Document, UnreadableDocument } from '../../document.js';
import { SectionBuilder } from '../section-builder.js';
import { addRows } from './flow.js';
import { readElements, relations } from './xml-events.js';
import { ZipArchive } from './zip.js';

/** Most columns of a row; cells beyond are dropped. */
const maxColumns = 1000;

/** Reads an Excel workbook: a section per sheet, whose first row names the columns. @throws UnreadableDocument */
export function readSpreadsheet(bytes: Buffer): Document {
  const zip = new ZipArchive(bytes);
  const main = zip.text('xl/workbook.xml');
  if (main === undefined) throw new UnreadableDocument('is not a workbook');
  const targets = relations(zip.text('xl/_rels/workbook.xml.rels'));
  const sections = new SectionBuilder();
  const texts = sharedTexts(zip.text('xl/sharedStrings.xml'));
  const dates = dateStyles(zip.text('xl/styles.xml'));
  const sheets: { name: string; path: string }[] = [];
  let from1904 = false;
  readElements(main, {
    open(name, attributes) {
      if (name === 'workbookPr') from1904 = /^(?:1|true)$/.test(attributes.date1904 ?? '');
      const target = name === 'sheet' ? targets.get(attributes['r:id'] ?? '') : undefined;
      if (target !== undefined)
        sheets.push({
          name: attributes.name ?? '',
          path: target.startsWith('/') ? target.slice(1) : `xl/${target}`,
        });
    },
  });
  for (const { name, path } of sheets) {
    sections.heading(2, name);
    addRows(rowsOf(zip.text(path), texts, dates, from1904), sections);
  }
  return sections.finish();
}

/** The texts that cells share; phonetic hints are left out. */
function sharedTexts(xml: string | undefined): string[] {
  const texts: string[] = [];
  let parts: string[] = [];
  let [inText, hints] = [false, 0];
  readElements(xml, {
    open(name) {
      if (name === 'rPh') hints++;
      else if (name === 't') inText = hints === 0;
    },
    text(text) {
      if (inText) parts.push(text);
    },
    close(name) {
      if (name === 'rPh') hints--;
      else if (name === 't') inText = false;
      else if (name === 'si') {
        texts.push(parts.join(''));
        parts = [];
      }
    },
  });
  return texts;
}

/** Built-in formats of dates and times. */
const builtIn = (id: number) => (id >= 14 && id <= 22) || (id >= 45 && id <= 47);

/** The cell styles that show a number as a date. */
function dateStyles(xml: string | undefined): ReadonlySet<number> {
  const formats = new Set<number>();
  const styles = new Set<number>();
  let inCells = false;
  let style = 0;
  readElements(xml, {
    open(name, attributes) {
      const id = Number(attributes.numFmtId);
      const code = (attributes.formatCode ?? '').slice(0, 500);
      if (name === 'numFmt' && /[ymdhs]/i.test(code.replace(/"[^"]*"|\[[^\]]*\]|\\./g, ''))) formats.add(id);
      else if (name === 'cellXfs') inCells = true;
      else if (name === 'xf' && inCells) {
        if (builtIn(id) || formats.has(id)) styles.add(style);
        style++;
      }
    },
    close(name) {
      if (name === 'cellXfs') inCells = false;
    },
  });
  return styles;
}

function rowsOf(
  xml: string | undefined,
  texts: readonly string[],
  dates: ReadonlySet<number>,
  from1904: boolean,
): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = { column: 0, type: '', style: 0 };
  let parts: string[] = [];
  let inValue = false;
  readElements(xml, {
    open(name, { r, t, s }) {
      if (name === 'row') row = [];
      else if (name === 'c') {
        cell = { column: r === undefined ? row.length : columnOf(r), type: t ?? 'n', style: Number(s ?? 0) };
        parts = [];
      } else if (name === 'v' || name === 't') inValue = true;
    },
    text(text) {
      if (inValue) parts.push(text);
    },
    close(name) {
      if (name === 'v' || name === 't') inValue = false;
      else if (name === 'row') rows.push(row);
      else if (name === 'c' && cell.column < maxColumns) {
        while (row.length < cell.column) row.push('');
        row[cell.column] = shown(parts.join(''), cell);
      }
    },
  });
  function shown(value: string, { type, style }: { type: string; style: number }): string {
    if (type === 's') return spaced(texts[Number(value)] ?? '');
    if (type === 'b') return value === '1' ? 'true' : 'false';
    return type === 'n' && dates.has(style) ? dateOf(value, from1904) : spaced(value);
  }
  return rows;
}

const spaced = (text: string) => text.replace(/\s+/g, ' ').trim();

/** The column of a reference such as AB12, from 0. */
function columnOf(reference: string): number {
  let column = 0;
  for (const letter of /^[A-Z]{1,3}/.exec(reference)?.[0] ?? 'A')
    column = column * 26 + letter.charCodeAt(0) - 64;
  return column - 1;
}

/** Days from 1970-01-01 back to the first day of each system of dates. */
const epochs = { 1900: 25_569, 1904: 24_107 } as const;

/** Returns a serial number as a date, with its time if it has one. */
function dateOf(value: string, from1904: boolean): string {
  const serial = Number(value);
  if (value === '' || !Number.isFinite(serial) || Math.abs(serial) > 3_000_000) return value;
  const days = serial - epochs[from1904 ? 1904 : 1900];
  const text = new Date(Math.round(days * 86_400) * 1000).toISOString();
  if (Math.abs(serial) < 1) return text.slice(11, 16);
  return Number.isInteger(serial) ? text.slice(0, 10) : text.slice(0, 16).replace('T', ' ');
}
