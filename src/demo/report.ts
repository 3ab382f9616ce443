import type { Knowledge, RetrievalPlan, ServerFrames, TurnDiagnostics } from '../client/index.js';

/** Columns of a line, for a terminal of 100. */
const lineWidth = 96;
const indent = '   ';
/** Lines shown of a hit's text. */
const snippetLines = 3;

/** A step of the demonstration: its title and its result. */
export function printStep(step: string, outcome: string): void {
  process.stdout.write(`${step.padEnd(14)}${outcome}\n`);
}

export function printQuestion(number: number, question: string, pages: readonly string[]): void {
  process.stdout.write(`\n${number}. "${question}" (pages: ${pages.join(', ')})\n`);
}

/** A reply, and a line per record that it cites. */
export function printAnswer(question: string, { text, citations = [] }: ServerFrames['TurnComplete']): void {
  process.stdout.write(`${indent}"${question}"\n`);
  for (const line of wrapped(text)) process.stdout.write(`${indent}${line}\n`);
  for (const id of new Set(citations.map((citation) => citation.id)))
    process.stdout.write(`${indent}- ${id}\n`);
}

/** A line of numbers, the id and a snippet per hit; each node's hits begin at #1. */
export function printHits(hits: readonly Knowledge[]): void {
  for (const hit of hits) {
    const rank = `${hit.node} #${hit.rank}`.padEnd(indent.length + 6);
    process.stdout.write(`${indent}${rank} ${numbers(hit)}\n`);
    for (const line of [hit.id, ...shortened(hit.snippet?.map(({ text }) => text).join('') ?? hit.text)])
      process.stdout.write(`${indent}    ${line}\n`);
  }
}

/** A node's search plan and times. */
export function printPlan({ node, plan, embedMs = 0, searchMs = 0 }: TurnDiagnostics['nodes'][number]): void {
  const parts: string[] = [];
  if (plan?.dense) parts.push(vectorSearch(plan.dense));
  if (plan?.lexical) parts.push(`BM25 scored ${plan.lexical.scored} records`);
  parts.push(`${embedMs.toFixed(1)} ms embedding, ${searchMs.toFixed(1)} ms search`);
  process.stdout.write(`${indent}${node}: ${parts.join('; ')}\n`);
}

function vectorSearch({ path, matched, visited }: NonNullable<RetrievalPlan['dense']>): string {
  if (path === 'exact') return `exact search of ${matched} vectors`;
  return `${path === 'graph' ? 'graph search' : 'search by cells'}, ${visited} of ${matched} vectors visited`;
}

function numbers({ score, distance, bm25Score, denseRank, lexicalRank }: Knowledge): string {
  const parts = [`score ${score.toFixed(4)}`];
  if (distance !== undefined) parts.push(`distance ${distance.toFixed(3)}${place(denseRank)}`);
  if (bm25Score !== undefined) parts.push(`BM25 ${bm25Score.toFixed(2)}${place(lexicalRank)}`);
  return parts.join('  ');
}

function place(rank: number | undefined): string {
  return rank === undefined ? '' : ` (rank ${rank})`;
}

/** The beginning of a text, wrapped at words. */
function shortened(text: string): string[] {
  const lines = wrapped(text);
  if (lines.length <= snippetLines) return lines;
  const width = lineWidth - indent.length - 4;
  return [...lines.slice(0, snippetLines - 1), `${lines[snippetLines - 1]?.slice(0, width - 4)} ...`];
}

/** A text, wrapped at words. */
function wrapped(text: string): string[] {
  const width = lineWidth - indent.length - 4;
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/\s+/)) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = '';
    }
    line += line === '' ? word : ` ${word}`;
  }
  lines.push(line);
  return lines;
}
