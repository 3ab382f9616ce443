import { integerArgument, refuse } from '../../lib/internal.js';
import type { EvaluationQuestion } from './evaluation-questions.js';
import { checkOptionNames, type OptionNames } from './option-names.js';
import type { KnowledgeSearchOptions } from './search-options.js';

/** The options of a search that an evaluation compares. */
export type EvaluationSetting = Pick<
  KnowledgeSearchOptions,
  'mode' | 'fusion' | 'rrf' | 'scores' | 'feedback' | 'ef' | 'lexical'
>;

export interface EvaluateOptions {
  /** Hits that count. Default 10. */
  topK?: number | undefined;
  /** Default: lexical, dense, and hybrid with both fusions and several weights; without a model lexical alone. */
  settings?: readonly EvaluationSetting[] | undefined;
  /** Questions listed as the worst. Default 5. */
  worst?: number | undefined;
  /** Aborting rejects the call. */
  signal?: AbortSignal | undefined;
  /** Called after each question with the number of questions done. */
  onProgress?: ((done: number, all: number) => void) | undefined;
}

const known: OptionNames<EvaluateOptions> = {
  topK: true,
  settings: true,
  worst: true,
  signal: true,
  onProgress: true,
};

const knownSetting: OptionNames<EvaluationSetting> = {
  mode: true,
  fusion: true,
  rrf: true,
  scores: true,
  feedback: true,
  ef: true,
  lexical: true,
};

/** Checks what a search does not check. @throws INVALID_ARGUMENT that names the option or the question */
export function checkEvaluation(questions: readonly EvaluationQuestion[], options: EvaluateOptions): void {
  checkOptionNames(options, known, 'an evaluation');
  const { topK, settings, worst } = options;
  integerArgument('topK', topK, 10, 1, 1000);
  integerArgument('worst', worst, 5, 0, Number.MAX_SAFE_INTEGER);
  if (settings !== undefined) requireList('settings', settings);
  for (const [index, setting] of (settings ?? []).entries())
    checkOptionNames(setting, knownSetting, 'a setting', `settings[${index}].`);
  requireList('questions', questions);
  for (const [index, question] of questions.entries()) checkQuestion(question, `questions[${index}]`);
}

function requireList(field: string, value: unknown): void {
  if (!Array.isArray(value)) refuse(field, 'an array is expected');
  if (value.length === 0) refuse(field, 'at least one is expected');
}

/** `readQuestions()` gives such questions; others may come from JavaScript. */
function checkQuestion(question: EvaluationQuestion | null, field: string): void {
  if (typeof question?.question !== 'string')
    refuse(field, 'a question with its relevant records is expected');
  const { relevant } = question;
  if (!(relevant instanceof Map) || relevant.size === 0)
    refuse(`${field}.relevant`, 'a Map of at least one id and its gain is expected');
  for (const [id, gain] of relevant) {
    if (typeof id !== 'string' || !(gain > 0 && gain < Number.POSITIVE_INFINITY))
      refuse(`${field}.relevant`, 'ids that are strings, and finite gains above 0, are expected');
  }
}
