import type { RetrievalPlan } from '../../protocol/retrieval.js';
import type { RetrievalFlags } from '../flags/retrieval.js';
import { counted } from '../terminal/amounts.js';

const searchedBy = {
  exact: 'every matching vector compared',
  graph: 'graph walked',
  cells: 'vectors of the nearest cells compared',
} as const;

/** Describes a search plan in lines for people. */
export function planLines(
  { mode, dense, lexical, fusion, rerank }: RetrievalPlan,
  filtered: boolean,
): string[] {
  const lines = [`mode      ${mode}`];
  if (dense !== undefined) {
    const { path, matched, visited, exact } = dense;
    const how = searchedBy[path];
    const records = filtered ? `${matched} match the filter` : `${counted(matched, 'record')} in all`;
    const sure = exact ? 'exact' : 'approximate';
    lines.push(`dense     ${how}: ${counted(visited, 'distance')} computed, ${records}, ${sure}`);
  }
  if (lexical !== undefined) {
    const { tokens, terms, scored } = lexical;
    lines.push(
      `lexical   ${counted(tokens, 'word')} in the query, ${terms} known, ${counted(scored, 'record')} scored`,
    );
  }
  if (fusion?.weights !== undefined) {
    const { weights } = fusion;
    lines.push(
      `fusion    by scores: ${weights.dense.toFixed(2)} dense + ${weights.lexical.toFixed(2)} lexical`,
    );
  } else if (fusion !== undefined) {
    lines.push('fusion    by ranks');
  }
  if (rerank !== undefined) {
    const { model, documents, tokens, truncated } = rerank;
    const shortened = truncated === 0 ? '' : `, ${truncated} truncated`;
    lines.push(
      `rerank    ${model}: ${counted(documents, 'record')}${shortened}, ${counted(tokens, 'token')}`,
    );
  }
  return lines;
}

/** Notes that help to judge a result. */
export function planNotes(
  { mode, dense, lexical }: RetrievalPlan,
  hits: number,
  { offset = 0, minScore, threshold }: Pick<RetrievalFlags, 'offset' | 'minScore' | 'threshold'>,
  tokenizer?: string,
): string[] {
  const notes: string[] = [];
  if (lexical?.tokens === 0) {
    const rest = mode === 'hybrid' ? '; only the meaning was searched' : ', so nothing can be found by words';
    notes.push(
      `the query has no words under the tokenizer${tokenizer === undefined ? '' : ` "${tokenizer}"`}${rest}`,
    );
  } else if (lexical?.terms === 0) {
    const rest = mode === 'hybrid' ? '; only the meaning was searched' : '';
    notes.push(`no record holds any of the query's words${rest}`);
  }
  if (hits > 0) return notes;
  if (dense?.matched === 0) notes.push('no record matches the filter');
  else if (offset > 0) notes.push(`there are no more than ${counted(offset, 'hit')}`);
  else if (minScore !== undefined) notes.push(`no hit has a relevance of ${minScore} or more`);
  else if (threshold !== undefined) notes.push('no record is within the threshold');
  return notes;
}
