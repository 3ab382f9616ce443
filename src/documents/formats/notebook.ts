import { type Document, type Section, UnreadableDocument } from '../document.js';
import { readHtml } from './html/html.js';
import { addMarkdown } from './markdown/markdown.js';
import { SectionBuilder } from './section-builder.js';
import { withoutEscapes } from './text.js';

interface Cell {
  cell_type?: unknown;
  source?: unknown;
  input?: unknown;
  outputs?: unknown;
  /** Of the headings that notebooks had before version 4. */
  level?: unknown;
}

/** Longest output of a cell that is read. */
const longestOutput = 4000;

/** Reads a Jupyter notebook: Markdown, code, and the outputs that are text. @throws UnreadableDocument */
export function readNotebook(text: string): Document {
  const notebook = parsed(text);
  const language = languageOf(notebook.metadata);
  const sections = new SectionBuilder();
  for (const cell of cellsOf(notebook)) {
    const source = joined(cell.source ?? cell.input);
    if (cell.cell_type === 'markdown') addMarkdown(source, sections);
    else if (cell.cell_type === 'code') {
      sections.add({ kind: 'code', text: source.trimEnd(), head: language });
      for (const output of listOf(cell.outputs)) addOutput(output, sections);
    } else if (cell.cell_type === 'heading') sections.heading(Number(cell.level) || 1, source.trim());
    else if (cell.cell_type === 'raw') sections.add({ kind: 'prose', text: source.trim() });
  }
  return sections.finish();
}

function parsed(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch (cause) {
    throw new UnreadableDocument(`is not a notebook: ${(cause as Error).message}`, { cause });
  }
  throw new UnreadableDocument('is not a notebook');
}

const listOf = (value: unknown): readonly Record<string, unknown>[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'object' && item !== null) : [];

/** Notebooks before version 4 have worksheets. */
function cellsOf({ cells, worksheets }: Record<string, unknown>): readonly Cell[] {
  return cells === undefined ? listOf(worksheets).flatMap((sheet) => listOf(sheet.cells)) : listOf(cells);
}

function languageOf(metadata: unknown): string {
  const { language_info, kernelspec } = (metadata ?? {}) as Record<
    string,
    Record<string, unknown> | undefined
  >;
  const name = language_info?.name ?? kernelspec?.language;
  return typeof name === 'string' ? name.slice(0, 40) : '';
}

/** A text, or its lines. */
function joined(value: unknown): string {
  if (Array.isArray(value)) return value.filter((line) => typeof line === 'string').join('');
  return typeof value === 'string' ? value : '';
}

/** The text of an output that is HTML only. */
function htmlText(html: string): string {
  if (html === '') return '';
  const { sections } = readHtml(html);
  const all = Array.isArray(sections) ? (sections as readonly Section[]) : [];
  return all.flatMap(({ headings, blocks }) => [...headings, ...blocks.map(({ text }) => text)]).join('\n');
}

function addOutput(output: Record<string, unknown>, sections: SectionBuilder): void {
  const { text, data, ename, evalue } = output;
  const forms = (data ?? {}) as Record<string, unknown>;
  const error = typeof ename === 'string' ? `${ename}: ${joined(evalue)}` : '';
  const isPicture = Object.keys(forms).some((type) => type.startsWith('image/'));
  const plain = joined(forms['text/plain']);
  const shown =
    joined(text) ||
    // The name of a picture's object, as in <Figure size 640x480 with 1 Axes>, tells nothing.
    (isPicture && /^<[^>]*>$/.test(plain.trim()) ? '' : plain) ||
    joined(forms['text/markdown']) ||
    joined(forms['text/latex']) ||
    htmlText(joined(forms['text/html'])) ||
    error;
  sections.add({
    kind: 'code',
    text: withoutEscapes(shown.slice(0, longestOutput)).trimEnd(),
    head: '',
  });
}
