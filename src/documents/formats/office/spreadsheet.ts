import { type Document, UnreadableDocument } from '../../document.js';
import { SectionBuilder } from '../section-builder.js';
import { builtInFormat, formatOfCode, type NumberFormat, numberText } from './cell-values.js';
import { textsOfDrawings } from './drawings.js';
import { addRows } from './flow.js';
import { relations, relationsPath, resolvedTarget } from './relations.js';
import { readElements, type XmlHandler } from './xml-events.js';
import { ZipArchive } from './zip.js';

/** Most columns of a row; cells beyond are dropped. */
const maxColumns = 1000;

/** Most rows in which the text of one merged cell is repeated. */
const maxRepeated = 1000;

/** A longer text is not repeated in the rows that its cell spans. */
const longestRepeated = 200;

const mainPart = 'xl/workbook.xml';

/** Some programs write names with a prefix. */
function readNames(xml: string | undefined, { open, text, close }: XmlHandler): void {
  const local = (name: string) => name.slice(name.indexOf(':') + 1);
  readElements(xml, {
    open: (name, attributes) => open?.(local(name), attributes),
    text: (piece) => text?.(piece),
    close: (name) => close?.(local(name)),
  });
}

interface Sheet {
  readonly name: string;
  readonly path: string;
  readonly isHidden: boolean;
}

/** Values of cells that the sheets of a workbook share. */
interface Shared {
  readonly texts: readonly string[];
  readonly formats: ReadonlyMap<number, NumberFormat>;
  readonly from1904: boolean;
}

/** Reads an Excel workbook: a section per sheet, whose first row names the columns. Hidden sheets are named. @throws UnreadableDocument */
export function readSpreadsheet(bytes: Buffer): Document {
  const zip = new ZipArchive(bytes);
  const main = zip.text(mainPart);
  if (main === undefined) throw new UnreadableDocument('is not a workbook');
  const { sheets, from1904 } = sheetsOf(main, zip);
  const texts = sharedTexts(zip.text('xl/sharedStrings.xml'));
  const shared = { texts, formats: cellFormats(zip.text('xl/styles.xml')), from1904 };
  const sections = new SectionBuilder();
  const problems: string[] = [];
  for (const { name, path } of sheets.filter(({ isHidden }) => !isHidden)) {
    sections.heading(2, name);
    const { rows, dropped } = rowsOf(zip.text(path), shared);
    if (dropped > 0) problems.push(`sheet ${quoted(name)}: cells beyond column ${maxColumns} are left out`);
    addRows(rows, sections);
    for (const text of [...commentsOf(zip, path), ...textsOfDrawings(zip, path)])
      sections.add({ kind: 'prose', text });
  }
  const hidden = sheets.filter(({ isHidden }) => isHidden).slice(0, mostNamed);
  problems.push(...hidden.map(({ name }) => `the sheet ${quoted(name)} is hidden`));
  return { ...sections.finish(), problems };
}

const quoted = (name: string) => JSON.stringify(name.slice(0, 100));

/** Hidden sheets that are named. */
const mostNamed = 20;

function sheetsOf(main: string, zip: ZipArchive): { sheets: Sheet[]; from1904: boolean } {
  const targets = relations(zip.text(relationsPath(mainPart)));
  const sheets: Sheet[] = [];
  let from1904 = false;
  readNames(main, {
    open(name, attributes) {
      if (name === 'workbookPr') from1904 = /^(?:1|true)$/.test(attributes.date1904 ?? '');
      const found = name === 'sheet' ? targets.get(attributes['r:id'] ?? '') : undefined;
      if (found === undefined) return;
      const isHidden = /^(?:hidden|veryHidden)$/.test(attributes.state ?? '');
      sheets.push({ name: attributes.name ?? '', path: resolvedTarget(mainPart, found.target), isHidden });
    },
  });
  return { sheets, from1904 };
}

/** What Excel lets a cell have. Any number of cells may share a longer text. */
const maxCellCharacters = 32_767;

/** The texts that cells share; phonetic hints are left out. */
function sharedTexts(xml: string | undefined): string[] {
  const texts: string[] = [];
  let parts: string[] = [];
  let [inText, hints] = [false, 0];
  readNames(xml, {
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
        texts.push(parts.join('').slice(0, maxCellCharacters));
        parts = [];
      }
    },
  });
  return texts;
}

/** How the cell styles show numbers. */
function cellFormats(xml: string | undefined): ReadonlyMap<number, NumberFormat> {
  const named = new Map<number, NumberFormat | undefined>();
  const styles = new Map<number, NumberFormat>();
  let inCells = false;
  let style = 0;
  readNames(xml, {
    open(name, attributes) {
      const id = Number(attributes.numFmtId);
      if (name === 'numFmt') named.set(id, formatOfCode(attributes.formatCode ?? ''));
      else if (name === 'cellXfs') inCells = true;
      else if (name === 'xf' && inCells) {
        const format = named.has(id) ? named.get(id) : builtInFormat(id);
        if (format !== undefined) styles.set(style, format);
        style++;
      }
    },
    close(name) {
      if (name === 'cellXfs') inCells = false;
    },
  });
  return styles;
}

/** A row with its number in the sheet, from 1. */
interface SheetRow {
  readonly number: number;
  readonly cells: string[];
}

/** Returns the rows of a sheet, and the number of filled cells beyond the last column that is read. */
function rowsOf(xml: string | undefined, shared: Shared): { rows: string[][]; dropped: number } {
  let dropped = 0;
  const rows: SheetRow[] = [];
  const merged: string[] = [];
  let row: SheetRow = { number: 0, cells: [] };
  let cell = { column: 0, type: '', style: 0 };
  let [value, formula]: [string[], string[]] = [[], []];
  let inside: string[] | undefined;
  readNames(xml, {
    open(name, { r, t, s, ref }) {
      if (name === 'row') row = { number: Number(r ?? row.number + 1), cells: [] };
      else if (name === 'c') {
        const column = r === undefined ? row.cells.length : columnOf(r);
        cell = { column, type: t ?? 'n', style: Number(s ?? 0) };
        [value, formula] = [[], []];
      } else if (name === 'v' || name === 't') inside = value;
      else if (name === 'f') inside = formula;
      else if (name === 'mergeCell' && ref !== undefined) merged.push(ref);
    },
    text(text) {
      inside?.push(text);
    },
    close(name) {
      if (name === 'v' || name === 't' || name === 'f') inside = undefined;
      else if (name === 'row') rows.push(row);
      else if (name === 'c' && cell.column >= maxColumns) dropped += value.length > 0 ? 1 : 0;
      else if (name === 'c') {
        while (row.cells.length < cell.column) row.cells.push('');
        row.cells[cell.column] = shown(value.join(''), formula.join(''), cell, shared);
      }
    },
  });
  repeatMerged(rows, merged);
  return { rows: rows.map(({ cells }) => cells), dropped };
}

/** The text of a cell. A formula without a value was never computed. */
function shown(
  value: string,
  formula: string,
  { type, style }: { type: string; style: number },
  { texts, formats, from1904 }: Shared,
): string {
  if (value === '' && formula !== '') return spaced(`=${formula}`);
  if (type === 's') return spaced(texts[Number(value)] ?? '');
  if (type === 'b') return value === '1' ? 'true' : 'false';
  return type === 'n' ? numberText(value.trim(), formats.get(style), from1904) : spaced(value);
}

/** Repeats short texts of merged cells in the rows that these span. */
function repeatMerged(rows: readonly SheetRow[], merged: readonly string[]): void {
  const byNumber = new Map(rows.map((row) => [row.number, row]));
  for (const reference of merged) {
    const [, from = '', first, last] = /^([A-Z]{1,3})(\d{1,7}):[A-Z]{1,3}(\d{1,7})$/.exec(reference) ?? [];
    if (first === undefined || first === last) continue;
    const column = columnOf(from);
    const text = byNumber.get(Number(first))?.cells[column] ?? '';
    if (text === '' || text.length > longestRepeated) continue;
    const end = Math.min(Number(last), Number(first) + maxRepeated);
    for (let number = Number(first) + 1; number <= end; number++) {
      const cells = byNumber.get(number)?.cells;
      if (cells === undefined || (cells[column] ?? '') !== '') continue;
      while (cells.length < column) cells.push('');
      cells[column] = text;
    }
  }
}

/** The comments of a sheet, with their cells. */
function commentsOf(zip: ZipArchive, sheet: string): string[] {
  const found: string[] = [];
  for (const { type, target } of relations(zip.text(relationsPath(sheet))).values()) {
    if (!/\/comments$/.test(type)) continue;
    let [parts, place, inText]: [string[], string, boolean] = [[], '', false];
    readNames(zip.text(resolvedTarget(sheet, target)), {
      open(name, { ref }) {
        if (name === 'comment') [parts, place] = [[], ref ?? ''];
        else if (name === 't') inText = true;
      },
      text(text) {
        if (inText) parts.push(text);
      },
      close(name) {
        if (name === 't') inText = false;
        const text = name === 'comment' ? spaced(parts.join('')) : '';
        if (text !== '') found.push(`Comment on ${place}: ${text}`);
      },
    });
  }
  return found;
}

const spaced = (text: string) => text.replace(/\s+/g, ' ').trim();

/** The column of a reference such as AB12, from 0. */
function columnOf(reference: string): number {
  let column = 0;
  for (const letter of /^[A-Z]{1,3}/.exec(reference)?.[0] ?? 'A')
    column = column * 26 + letter.charCodeAt(0) - 64;
  return column - 1;
}
