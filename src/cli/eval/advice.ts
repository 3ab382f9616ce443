import type { EvaluatedSetting, Evaluation, KnowledgeBase } from '../../knowledge/index.js';
import { counted } from '../terminal/amounts.js';
import { settingName } from './report.js';

/** A gain of nDCG worth a change. */
const worthwhile = 0.01;
/** A share of questions worth a sentence. */
const notable = 0.1;
const listedIds = 3;
/** With fewer questions, the interval of a difference means little: for one question it is 0. */
const minQuestions = 10;

/** Returns advice in sentences, the most useful first. */
export function adviceOf(evaluation: Evaluation, config: KnowledgeBase['config']): string[] {
  const { questions, drafts, settings, missed, late, unknownWords, unknownIds, topK } = evaluation;
  const advice: string[] = [];
  if (unknownIds.length > 0) {
    const more = unknownIds.length > listedIds ? ', ...' : '';
    const listed = unknownIds.slice(0, listedIds).map((id) => JSON.stringify(id));
    advice.push(
      `No record has ${unknownIds.length === 1 ? 'the id' : `these ${unknownIds.length} ids`}: ${listed.join(', ')}${more}. Correct them in the questions file.`,
    );
  }
  if (drafts > 0)
    advice.push(
      `${drafts} of ${counted(questions, 'question')} ${drafts === 1 ? 'is a draft' : 'are drafts'}: records find their own sentences easily, so these numbers are too good. Replace them with questions that people ask.`,
    );
  if (drafts === 0) advice.push(...calibrationAdvice(evaluation, config));
  const better = (questions < minQuestions ? [] : settings)
    .filter(({ current, difference: { mean, half } }) => !current && mean >= worthwhile && mean > half)
    .sort((a, b) => b.difference.mean - a.difference.mean)[0];
  if (better !== undefined) advice.push(settingAdvice(better));
  const ndcgOf = (mode: string) => settings.find(({ setting }) => setting.mode === mode)?.mean.ndcg;
  const dense = ndcgOf('dense');
  const lexical = ndcgOf('lexical');
  if (dense !== undefined && lexical !== undefined && dense < 0.75 * lexical)
    advice.push(
      `Search by meaning is much worse than by words (${dense.toFixed(3)} against ${lexical.toFixed(3)}): "${config.embedding_model}" does not suit these texts. Try another embedding_model.`,
    );
  if (unknownWords > notable * questions)
    advice.push(
      `${counted(unknownWords, 'question')} have no word that occurs in any record: check bm25_tokenizer ("${config.bm25_tokenizer}") and the language of the model.`,
    );
  else if (config.bm25_tokenizer === 'basic')
    advice.push(
      'bm25_tokenizer is "basic": "enhanced" ranks better for English, "multilingual" for languages with inflection or without spaces. Change it and evaluate again.',
    );
  if (late > notable * questions)
    advice.push(
      `${counted(late, 'question')} have their first relevant record only between rank ${topK + 1} and 100: a larger top_k reaches it.`,
    );
  if (missed > notable * questions)
    advice.push(
      `${counted(missed, 'question')} have no relevant record among the first 100: check their ids, or add the words that people use to the records.`,
    );
  if (questions < 50)
    advice.push(
      `${counted(questions, 'question')} ${questions === 1 ? 'is' : 'are'} few: differences below ${(1 / Math.sqrt(questions)).toFixed(2)} may be chance. Aim at 50 or more.`,
    );
  return advice;
}

/** Recommends corrections of relevance that help on held-out questions. */
function calibrationAdvice({ calibrations }: Evaluation, config: KnowledgeBase['config']): string[] {
  const helpful = Object.entries(calibrations).filter(
    ([, { error, corrected, gain }]) => gain.mean > gain.half && error - corrected >= worthwhile,
  );
  if (helpful.length === 0) return [];
  const corrections = Object.fromEntries(helpful.map(([mode, { calibration }]) => [mode, calibration]));
  const all = JSON.stringify({ ...config.search?.relevance, ...corrections });
  const errors = helpful.map(
    ([mode, { error, corrected }]) => `${error.toFixed(3)} to ${corrected.toFixed(3)} (${mode})`,
  );
  return [
    `Relevance differs from these judgments: set "relevance": ${all} in "search" of the config, which lowers the calibration error from ${errors.join(', from ')}, and evaluate again for a new --min-score.`,
  ];
}

function settingAdvice({ setting, difference: { mean, half } }: EvaluatedSetting): string {
  const gain = `${settingName(setting)} is ${mean.toFixed(3)} ± ${half.toFixed(3)} better in nDCG`;
  const { mode, fusion, scores, feedback } = setting;
  const search = JSON.stringify({ mode, fusion, scores, feedback }).slice(1, -1);
  return `${gain}: set ${search} in "search" of the config.`;
}
