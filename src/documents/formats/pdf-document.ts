import { type Document, UnreadableDocument } from '../document.js';
import { mostAtOnce, type Recognizer } from '../ocr/scan.js';
import { textOfScan } from '../ocr/scan-text.js';
import type { PageLine } from './pdf-lines.js';
import { withoutMargins } from './pdf-margins.js';
import { joinWords, pageText } from './pdf-text.js';
import { readPages } from './text.js';

/** What the parser found in a PDF. */
export interface PdfContent {
  readonly pages: readonly PageLine[][];
  readonly title: string | undefined;
  /** Why the other pages are missing. */
  readonly problem: string | undefined;
}

/** Makes a document of the pages of a PDF. Those without text are named, or read by OCR. */
export async function documentOf(
  { pages, title, problem }: PdfContent,
  bytes: Buffer,
  recognizer: Recognizer | undefined,
): Promise<Document> {
  const texts = withoutMargins([...pages]).map(pageText);
  const empty = texts.flatMap((text, at) => (text === '' ? [at + 1] : []));
  const problems = problem === undefined ? [] : [problem];
  let missing: string | undefined;
  if (recognizer === undefined) problems.push(...withoutText(empty, pages.length));
  else {
    const scans = await recognized(empty, bytes, recognizer);
    for (const [page, text] of scans.texts) texts[page - 1] = textOfScan(text);
    for (const [reason, numbers] of scans.problems) problems.push(`${pagesNamed(numbers)}: ${reason}`);
    missing = scans.missing;
  }
  return { ...readPages(joinWords(texts), title), problems, missing };
}

interface Recognized {
  readonly texts: Map<number, string>;
  /** Pages that could not be read, by reason. */
  readonly problems: Map<string, number[]>;
  missing: string | undefined;
}

/** Reads pages by OCR, some at a time. */
async function recognized(pages: number[], bytes: Buffer, recognizer: Recognizer): Promise<Recognized> {
  const found: Recognized = { texts: new Map(), problems: new Map(), missing: undefined };
  const report = (page: number, reason: string) =>
    found.problems.set(reason, [...(found.problems.get(reason) ?? []), page]);
  const waiting = [...pages];
  const readNext = async () => {
    for (let page = waiting.shift(); page !== undefined; page = waiting.shift()) {
      try {
        const text = (await recognizer.recognize({ kind: 'page', bytes, page })).join('\n\n');
        if (text === '') report(page, 'OCR finds no text');
        else found.texts.set(page, text);
      } catch (error) {
        if (!(error instanceof UnreadableDocument)) throw error;
        report(page, error.message);
        found.missing ??= error.missing;
        // The others would need it, too.
        if (error.missing !== undefined) for (const other of waiting.splice(0)) report(other, error.message);
      }
    }
  };
  await Promise.all(Array.from({ length: mostAtOnce }, readNext));
  return found;
}

/** Ranges of pages that a message names. */
const mostRanges = 10;

/** Names pages: "page 3", "pages 3, 5-7". */
function pagesNamed(numbers: readonly number[]): string {
  const ranges: [number, number][] = [];
  for (const number of [...numbers].sort((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last?.[1] === number - 1) last[1]++;
    else ranges.push([number, number]);
  }
  const named = ranges.slice(0, mostRanges).map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`));
  const list = `${named.join(', ')}${ranges.length > mostRanges ? ' and others' : ''}`;
  return `${numbers.length === 1 ? 'page' : 'pages'} ${list}`;
}

/** Names the pages without text of a document that has text; a document without any is a case of its own. */
function withoutText(empty: readonly number[], pages: number): string[] {
  if (empty.length === 0 || empty.length === pages) return [];
  return [
    empty.length === 1
      ? `${pagesNamed(empty)} has no text; if it is scanned, --ocr reads it`
      : `${pagesNamed(empty)} have no text; if they are scanned, --ocr reads them`,
  ];
}
