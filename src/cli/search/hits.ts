import type { SnippetPart } from '../../../lib/internal.js';
import type { Hit, RetrievalPlan } from '../../protocol/retrieval.js';
import { note, print } from '../output.js';
import { ellipsize } from '../terminal/columns.js';
import { wrapPieces } from '../terminal/pieces.js';
import { printable, printableJson, printableLine } from '../terminal/printable.js';
import { Screen } from '../terminal/screen.js';
import { type Column, tableLines, tableWidths } from '../terminal/table.js';

interface HitTableOptions {
  screen: Screen;
  mode: RetrievalPlan['mode'];
  /** Also shows the ranks in both legs, and the metadata. */
  explain: boolean;
}

interface HitColumn extends Column {
  cell(hit: Hit): string;
}

/** Columns of the beginning of a text without a snippet. */
const beginningColumns = 160;
/** Columns that the text needs next to the others; with fewer it goes below them. */
const narrowestText = 40;
const indent = 4;
/** Columns between two cells. */
const gap = 2;
/** Columns of an id for which columns of scores are left out. */
const idColumns = 8;

/** The beginnings of the records around a hit. */
function contextLines(
  records: readonly { text: string }[] | undefined,
  width: number,
  screen: Screen,
): string[] {
  return (records ?? []).map(
    ({ text }) => ' '.repeat(indent) + screen.dim(ellipsize(printableLine(text), width)),
  );
}

/** Prints the hits as a table, or a line if there are none. */
export function printHits(
  hits: readonly Hit[],
  { mode, explain = false }: { mode: HitTableOptions['mode']; explain?: boolean | undefined },
): void {
  if (hits.length === 0) note('no hits');
  else for (const line of hitLines(hits, { screen: new Screen(process.stdout), mode, explain })) print(line);
}

/** The hits as a table: rank, scores, id, and a snippet around the query's words. */
function hitLines(hits: readonly Hit[], options: HitTableOptions): string[] {
  const { screen, explain } = options;
  const layout = hitColumns(
    options,
    hits.some(({ rerank_score }) => rerank_score !== undefined),
  );
  const taken = tableWidths(layout, rowsOf(hits, layout)).reduce((sum, width) => sum + width + gap, 0);
  const beside = screen.width - taken;
  const hasContext = hits.some(({ context }) => context !== undefined);
  if (explain || hasContext || beside < narrowestText) {
    const under = screen.width - indent;
    const fitting = fittingColumns(layout, hits, screen.width);
    const [titles = '', ...lines] = tableLines(fitting, rowsOf(hits, fitting));
    return [
      screen.dim(titles.trimEnd()),
      ...hits.flatMap((hit, index) => [
        (lines[index] as string).trimEnd(),
        ...contextLines(hit.context?.before, under, screen),
        ...textLines(hit, under, options).map((line) => ' '.repeat(indent) + line),
        ...contextLines(hit.context?.after, under, screen),
        ...(explain ? metadataLines(hit, under, screen) : []),
      ]),
    ];
  }
  const [titles = '', ...lines] = tableLines(layout, rowsOf(hits, layout));
  return [
    screen.dim(`${titles}  text`),
    ...hits.flatMap((hit, index) =>
      textLines(hit, beside, options).map(
        (line, part) => `${part === 0 ? lines[index] : ' '.repeat(taken - gap)}  ${line}`,
      ),
    ),
  ];
}

const rowsOf = (hits: readonly Hit[], layout: readonly HitColumn[]) =>
  hits.map((hit) => layout.map(({ cell }) => cell(hit)));

/** Returns the columns that fit a line without the text: rank and id always, and the first scores. The id takes the rest. */
function fittingColumns(layout: readonly HitColumn[], hits: readonly Hit[], width: number): HitColumn[] {
  const [rank, ...scores] = layout.slice(0, -1) as [HitColumn, ...HitColumn[]];
  const id = layout.at(-1) as HitColumn;
  for (;;) {
    const others = [rank, ...scores];
    const room = tableWidths(others, rowsOf(hits, others)).reduce((left, cells) => left - cells - gap, width);
    if (room >= idColumns || scores.length === 0) return [...others, { ...id, widest: Math.max(1, room) }];
    scores.pop();
  }
}

function hitColumns({ screen, mode, explain }: HitTableOptions, reranked: boolean): HitColumn[] {
  const right = (title: string, cell: HitColumn['cell']): HitColumn => ({ title, align: 'right', cell });
  const dense = mode !== 'lexical';
  const lexical = mode !== 'dense';
  return [
    right('#', ({ rank }) => String(rank)),
    ...(mode === 'hybrid' ? [right('score', ({ score }) => shown(score))] : []),
    ...(dense ? [right('distance', ({ distance }) => shown(distance))] : []),
    ...(dense && explain && mode === 'hybrid'
      ? [right('dense', ({ dense_score }) => normalised(dense_score))]
      : []),
    ...(dense && explain ? [right('dense #', ({ dense_rank }) => rankText(dense_rank))] : []),
    ...(lexical ? [right('bm25', ({ bm25_score }) => shown(bm25_score))] : []),
    ...(lexical && explain && mode === 'hybrid'
      ? [right('lexical', ({ lexical_score }) => normalised(lexical_score))]
      : []),
    ...(lexical && explain ? [right('lexical #', ({ lexical_rank }) => rankText(lexical_rank))] : []),
    ...(reranked ? [right('rerank', ({ rerank_score }) => shown(rerank_score))] : []),
    right('relevance', ({ relevance }) => normalised(relevance)),
    {
      title: 'id',
      align: 'left',
      cut: 'middle',
      widest: Math.max(idColumns, Math.floor(screen.width * 0.3)),
      cell: ({ id }) => printableLine(id),
    },
  ];
}

/** The snippet of a hit, or the beginning of its text. */
function textLines(hit: Hit, width: number, { screen }: HitTableOptions): string[] {
  // Brackets take two columns, colours take none.
  const extra = screen.colours ? 0 : 2;
  const parts = hit.snippet ?? [{ text: ellipsize(printableLine(hit.text), beginningColumns), match: false }];
  const shown = parts.map(({ text, match }) => ({ text: printable(text.replace(/\s+/gu, ' ')), match }));
  return wrapPieces(shown, width, extra).map((line) =>
    line.map((part) => highlighted(part, screen)).join(''),
  );
}

function highlighted({ text, match }: SnippetPart, screen: Screen): string {
  if (!match) return text;
  return screen.colours ? screen.style(['bold', 'yellow'], text) : `[${text}]`;
}

function metadataLines({ metadata }: Hit, width: number, screen: Screen): string[] {
  if (metadata === undefined || Object.keys(metadata).length === 0) return [];
  return [' '.repeat(indent) + screen.dim(ellipsize(printableJson(metadata), width))];
}

const shown = (value: number | undefined) => (value === undefined ? '-' : value.toFixed(4));
const normalised = (value: number | undefined) => (value === undefined ? '-' : value.toFixed(2));
const rankText = (rank: number | undefined) => (rank === undefined ? '-' : String(rank));
