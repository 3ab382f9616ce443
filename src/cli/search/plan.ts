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
  { mode, engine, dense, lexical, fusion, rerank }: RetrievalPlan,
  filtered: boolean,
): string[] {
  const lines = [`mode      ${mode}${engine === undefined ? '' : `, by ${engine}`}`];
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
  if (fusion?.feedback !== undefined) {
    const { weight, added } = fusion.feedback;
    lines.push(
      `feedback  ranked again near the best 2 hits, weight ${weight.toFixed(2)}: ${counted(added, 'new hit')}`,
    );
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

type ResultFlags = Pick<
  RetrievalFlags,
  'offset' | 'minScore' | 'minBest' | 'threshold' | 'filter' | 'extended'
>;

/** Notes that help to judge a result. */
export function planNotes(
  plan: RetrievalPlan,
  hits: number,
  flags: ResultFlags,
  tokenizer?: string,
): string[] {
  const { mode, dense, lexical } = plan;
  const notes: string[] = [];
  const byMeaning = hits > 0 && mode === 'hybrid' ? '; only the meaning was searched' : '';
  if (lexical?.tokens === 0) {
    const rest = byMeaning || ', so nothing can be found by words';
    notes.push(
      `the query has no words under the tokenizer${tokenizer === undefined ? '' : ` "${tokenizer}"`}${rest}`,
    );
    if (mode === 'hybrid' && dense === undefined)
      notes.push('without operators and excluded words no text is left to search for by meaning');
  } else if (lexical?.terms === 0) notes.push(`no record holds any of the query's words${byMeaning}`);
  if (hits === 0) notes.push(...whyNone(flags, plan));
  return notes;
}

/** Why there are no hits, unless the query's words say it. */
function whyNone(
  { offset = 0, minScore, minBest, threshold, filter, extended }: ResultFlags,
  { dense, lexical }: RetrievalPlan,
): string[] {
  if (dense?.matched === 0) return ['no record matches the filter'];
  if (offset > 0) return [`there are no more than ${counted(offset, 'hit')}`];
  if (minScore !== undefined) return [`no hit has a relevance of ${minScore} or more`];
  if (minBest !== undefined) return [`nothing relevant found: no hit has a relevance of ${minBest} or more`];
  if (threshold !== undefined) return ['no record is within the threshold'];
  const irrelevant = ['nothing relevant found; --min-best 0 shows the nearest records'];
  if (extended !== true && (dense !== undefined || (lexical?.scored ?? 0) > 0)) return irrelevant;
  if (lexical === undefined || lexical.terms === 0) return [];
  if (filter !== undefined) return ["no record that matches the filter has the query's words"];
  if (extended !== true) return irrelevant;
  return ['no record has all required words and phrases and none of the excluded ones'];
}
