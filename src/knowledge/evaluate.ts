import { isDeepStrictEqual } from 'node:util';
import { rankingOptions } from '../../lib/basics.js';
import { LorekeepError, type SearchMode, searchModes } from '../../lib/internal.js';
import { type FittedCalibration, fitCalibration } from './calibrate.js';
import { type Measures, meanMeasures, measure, pairedDifference } from './evaluation-measures.js';
import { checkEvaluation, type EvaluateOptions, type EvaluationSetting } from './evaluation-options.js';
import type { EvaluationQuestion } from './evaluation-questions.js';
import { type JudgedHit, type RelevanceSummary, summariseRelevance } from './evaluation-relevance.js';
import { embedsTexts } from './model.js';
import type { SearchDefaults } from './search-defaults.js';
import type { SearchableStorage } from './searchable.js';

export interface EvaluatedSetting {
  setting: EvaluationSetting;
  /** Whether searches without options use it. */
  current: boolean;
  mean: Measures;
  /** nDCG minus the current setting's: the mean over the questions, and half of its 95 % interval. */
  difference: { mean: number; half: number };
}

export interface WorstQuestion {
  question: string;
  /** nDCG under the current setting. */
  ndcg: number;
  /** Rank of each relevant record among the first 100; absent beyond. */
  relevant: { id: string; rank?: number }[];
  /** The best hits that are not relevant. */
  instead: { id: string; text: string; rank: number; relevance: number }[];
  /** Words of the question, and how many of them occur in any record. */
  words: { all: number; known: number };
}

export interface Evaluation {
  questions: number;
  drafts: number;
  topK: number;
  settings: EvaluatedSetting[];
  /** Relevance of the first topK hits of the current setting. */
  relevance: RelevanceSummary;
  /** Corrections of relevance that the judgments ask for, by mode; not of modes without a setting or with few judged hits. */
  calibrations: { [Mode in SearchMode]?: FittedCalibration };
  worst: WorstQuestion[];
  /** Questions without any relevant record among the first 100 of the current setting. */
  missed: number;
  /** Questions whose relevant records come first only between topK and 100. */
  late: number;
  /** Questions none of whose words occur in any record. */
  unknownWords: number;
  /** Relevant ids that no record has. */
  unknownIds: string[];
}

const depth = 100;
const listedInstead = 3;
const shares = [0.3, 0.5, 0.7, 0.9];

/** The settings that an evaluation compares by default. */
export const evaluationSettings: readonly EvaluationSetting[] = [
  { mode: 'lexical' },
  { mode: 'dense' },
  { mode: 'hybrid', fusion: 'rrf' },
  { mode: 'hybrid', fusion: 'scores' },
  ...shares.map((weight): EvaluationSetting => ({ mode: 'hybrid', fusion: 'scores', scores: { weight } })),
];

interface Answer {
  question: EvaluationQuestion;
  measures: Measures[]; // by setting
  hits: JudgedHit[][]; // by setting
  worst: WorstQuestion;
}

/**
 * Measures how well a storage answers questions whose relevant records are known, for each setting.
 * @throws INVALID_ARGUMENT for wrong options or questions, which it names; without a record for any relevant id; as SearchableStorage.search()
 */
export async function evaluate(
  storage: SearchableStorage<object>,
  questions: readonly EvaluationQuestion[],
  options: EvaluateOptions = {},
): Promise<Evaluation> {
  checkEvaluation(questions, options);
  const current = currentSetting(storage);
  const usual = embedsTexts(storage.model)
    ? [...evaluationSettings, otherFeedback(storage.defaults)]
    : [current];
  const { topK = 10, settings = usual, worst = 5, signal, onProgress } = options;
  const place = settings.findIndex((setting) => isSame(setting, current));
  const all = place < 0 ? [current, ...settings] : settings;
  const unknownIds = await idsWithoutRecord(storage, questions, signal);
  refuseForeignQuestions(questions, unknownIds);
  const answers: Answer[] = [];
  const at = Math.max(0, place);
  const context = { topK, settings, all, at, signal };
  for (const [index, question] of questions.entries()) {
    answers.push(
      await answer(storage, question, context).catch((error) =>
        refuse(error, question.place ?? `questions[${index}]`),
      ),
    );
    onProgress?.(answers.length, questions.length);
  }
  const ndcgOf = (index: number) => answers.map(({ measures }) => measures[index]?.ndcg ?? 0);
  return {
    questions: questions.length,
    drafts: questions.filter(({ draft }) => draft).length,
    topK,
    settings: all.map((setting, index) => ({
      setting,
      current: index === at,
      mean: meanMeasures(answers.map(({ measures }) => measures[index] as Measures)),
      difference: pairedDifference(ndcgOf(index), ndcgOf(at)),
    })),
    relevance: summariseRelevance(answers.flatMap(({ hits }) => hits[at] ?? [])),
    calibrations: calibrationsOf(storage, answers, { all, at }),
    worst: answers
      .map(({ worst: one }) => one)
      .sort((a, b) => a.ndcg - b.ndcg)
      .slice(0, worst)
      .filter(({ ndcg }) => ndcg < 1),
    missed: answers.filter(({ worst: one }) => one.relevant.every(({ rank }) => rank === undefined)).length,
    late: answers.filter(({ worst: one }) => isLate(one, topK)).length,
    unknownWords: answers.filter(({ worst: one }) => one.words.known === 0).length,
    unknownIds,
  };
}

/** A mode's calibration is fitted to its current setting, or else to its first one. */
function calibrationsOf(
  { defaults }: SearchableStorage<object>,
  answers: readonly Answer[],
  { all, at }: { all: readonly EvaluationSetting[]; at: number },
): Evaluation['calibrations'] {
  const found: Evaluation['calibrations'] = {};
  for (const mode of searchModes) {
    const isOfMode = (setting: EvaluationSetting | undefined) => (setting?.mode ?? 'hybrid') === mode;
    const index = isOfMode(all[at]) ? at : all.findIndex(isOfMode);
    const hits = answers.map((answer) => answer.hits[index] ?? []);
    const fitted = fitCalibration(hits, defaults.relevance?.[mode]);
    if (fitted !== undefined) found[mode] = fitted;
  }
  return found;
}

/** Refuses questions without any relevant record in the storage: they belong to other records. */
function refuseForeignQuestions(
  questions: readonly EvaluationQuestion[],
  unknownIds: readonly string[],
): void {
  const unknown = new Set(unknownIds);
  if (questions.some(({ relevant }) => [...relevant.keys()].some((id) => !unknown.has(id)))) return;
  const [first = ''] = unknownIds;
  const reason = `no record has any of their relevant ids, such as ${JSON.stringify(first.slice(0, 128))}; are they about other records?`;
  throw LorekeepError.about('INVALID_ARGUMENT', { field: 'questions', reason });
}

/** Rethrows an error; one about a question's text names the question. */
function refuse(error: unknown, place: string): never {
  if (!(error instanceof LorekeepError) || error.detail.field !== 'text') throw error;
  const { reason = error.message, ...facts } = error.detail;
  const named = { ...facts, field: place, reason: String(reason) };
  throw LorekeepError.about(error.code, named, { cause: error });
}

/** Rethrows an error; one about an option of a given setting names the setting. */
function refuseSetting(error: unknown, index: number): never {
  if (!(error instanceof LorekeepError) || error.code !== 'INVALID_ARGUMENT' || index < 0) throw error;
  const { field, reason = error.message, ...facts } = error.detail;
  if (field === undefined || field === 'text') throw error;
  const named = { ...facts, field: `settings[${index}].${field}`, reason: String(reason) };
  throw LorekeepError.about('INVALID_ARGUMENT', named, { cause: error });
}

async function idsWithoutRecord(
  { storage }: SearchableStorage<object>,
  questions: readonly EvaluationQuestion[],
  signal: AbortSignal | undefined,
): Promise<string[]> {
  const unknown: string[] = [];
  for (const id of new Set(questions.flatMap(({ relevant }) => [...relevant.keys()]))) {
    if (!(await storage.has(id, { signal }))) unknown.push(id);
  }
  return unknown;
}

/** Returns the setting of a search without options. */
function currentSetting({ model, defaults }: SearchableStorage<object>): EvaluationSetting {
  const { mode, fusion, rrf, scores } = defaults;
  if (!embedsTexts(model)) return { mode: 'lexical' };
  if (mode !== 'hybrid') return { mode };
  const own = fusion === 'rrf' ? { rrf } : { scores };
  return Object.values(own)[0] === undefined ? { mode, fusion } : { mode, fusion, ...own };
}

/** Without feedback if searches without options have it, else with it. */
const otherFeedback = ({ feedback }: SearchDefaults): EvaluationSetting => ({
  mode: 'hybrid',
  fusion: 'scores',
  feedback: feedback ? 0 : rankingOptions.feedback.alone,
});

const isSame = (a: EvaluationSetting, b: EvaluationSetting) => isDeepStrictEqual(a, b);

function isLate({ relevant }: WorstQuestion, topK: number): boolean {
  const best = Math.min(...relevant.map(({ rank }) => rank ?? Number.POSITIVE_INFINITY));
  return best > topK && best <= depth;
}

interface AnswerContext {
  topK: number;
  /** Those that the caller has given. */
  settings: readonly EvaluationSetting[];
  /** Those that are measured. */
  all: readonly EvaluationSetting[];
  /** The position of the current one. */
  at: number;
  signal: AbortSignal | undefined;
}

async function answer(
  storage: SearchableStorage<object>,
  question: EvaluationQuestion,
  context: AnswerContext,
): Promise<Answer> {
  const { topK, settings, all, at, signal } = context;
  const measures: Measures[] = [];
  const judged: JudgedHit[][] = [];
  let worst: WorstQuestion | undefined;
  for (const [index, setting] of all.entries()) {
    const searching = storage.search({ ...setting, text: question.question, topK, signal });
    const { hits } = await searching.catch((error) => refuseSetting(error, settings.indexOf(setting)));
    measures.push(
      measure(
        hits.map(({ id }) => id),
        question.relevant,
        topK,
      ),
    );
    judged.push(hits.map(({ id, relevance }) => ({ relevance, isRelevant: question.relevant.has(id) })));
    if (index === at) {
      const ndcg = measures[index]?.ndcg ?? 0;
      worst = await inspect(storage, question, { setting, ndcg, depth: Math.max(depth, topK), signal });
    }
  }
  return { question, measures, hits: judged, worst: worst as WorstQuestion };
}

async function inspect(
  storage: SearchableStorage<object>,
  { question, relevant }: EvaluationQuestion,
  context: { setting: EvaluationSetting; ndcg: number; depth: number; signal: AbortSignal | undefined },
): Promise<WorstQuestion> {
  const { setting, ndcg, signal } = context;
  const { hits, plan } = await storage.search({ ...setting, text: question, topK: context.depth, signal });
  const ranks = new Map(hits.map(({ id, rank }) => [id, rank]));
  return {
    question,
    ndcg,
    relevant: [...relevant.keys()].map((id) => {
      const rank = ranks.get(id);
      return rank === undefined ? { id } : { id, rank };
    }),
    instead: hits
      .filter(({ id }) => !relevant.has(id))
      .slice(0, listedInstead)
      .map(({ id, text, rank, relevance }) => ({ id, text, rank, relevance })),
    words: { all: plan.lexical?.tokens ?? 0, known: plan.lexical?.terms ?? 0 },
  };
}
