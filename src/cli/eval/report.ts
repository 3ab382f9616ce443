import {
  type Evaluation,
  type EvaluationSetting,
  measureNames,
  type WorstQuestion,
} from '../../knowledge/index.js';
import { counted } from '../terminal/amounts.js';
import { ellipsize } from '../terminal/columns.js';
import { printable, printableLine } from '../terminal/printable.js';
import type { Screen } from '../terminal/screen.js';
import { type Column, fittedTable } from '../terminal/table.js';

/** A setting in words, such as `hybrid scores 0.5`. */
export function settingName({ mode = 'hybrid', fusion, scores, feedback }: EvaluationSetting): string {
  const fed = feedback === undefined ? undefined : `feedback ${feedback}`;
  return [mode, fusion, scores?.weight, fed].filter((part) => part !== undefined).join(' ');
}

/** The report for people: table, worst questions, advice. */
export function reportLines(evaluation: Evaluation, advice: readonly string[], screen: Screen): string[] {
  const { questions, topK, worst } = evaluation;
  return [
    `${counted(questions, 'question')}, the first ${counted(topK, 'hit')} of each`,
    '',
    ...table(evaluation, screen),
    '',
    relevanceLine(evaluation),
    ...calibrationLine(evaluation),
    ...(worst.length === 0 ? [] : ['', 'Worst questions of the current setting (*):']),
    ...worst.flatMap((one) => worstLines(one, screen)),
    ...(advice.length === 0 ? [] : ['', 'What to change:']),
    ...advice.map((sentence) => `- ${printable(sentence)}`),
  ];
}

const titles = { ndcg: 'nDCG', recall: 'recall', mrr: 'MRR', hitRate: 'hit rate' };

/** One question has no interval. */
const interval = (half: number, questions: number) => (questions < 2 ? '' : ` ± ${half.toFixed(3)}`);

function table({ settings, questions }: Evaluation, screen: Screen): string[] {
  const layout: Column[] = [
    { title: 'setting', align: 'left' },
    ...measureNames.map((name): Column => ({ title: titles[name], align: 'right' })),
    { title: 'nDCG minus *', align: 'right' },
  ];
  const rows = settings.map(({ setting, current, mean, difference }) => [
    `${settingName(setting)}${current ? ' *' : ''}`,
    ...measureNames.map((name) => mean[name].toFixed(3)),
    current ? '' : `${signed(difference.mean)}${interval(difference.half, questions)}`,
  ]);
  const [head = '', ...lines] = fittedTable(layout, rows, screen.limit);
  return [screen.dim(head), ...lines];
}

function relevanceLine({ relevance: { relevant, mean, auroc, minScore, dropped } }: Evaluation): string {
  const parts = [
    `Relevance of the hits of *: ${mean.toFixed(3)} on average, ${relevant.toFixed(3)} are relevant`,
  ];
  if (auroc !== undefined) parts.push(`AUROC ${auroc.toFixed(3)}`);
  if (minScore === undefined || dropped === undefined) return `${parts.join(', ')}.`;
  const kept = `--min-score ${minScore} keeps 95 % of the relevant hits`;
  return `${parts.join(', ')}. ${kept} and drops ${Math.round(100 * dropped)} % of the others.`;
}

/** How far relevance is from the judgments, for the mode of the current setting. */
function calibrationLine({ settings, calibrations }: Evaluation): string[] {
  const mode = settings.find(({ current }) => current)?.setting.mode ?? 'hybrid';
  const fitted = calibrations[mode];
  if (fitted === undefined) return [];
  const { error, corrected } = fitted;
  return [
    `Calibration error ${error.toFixed(3)}; ${corrected.toFixed(3)} with a correction learned from other questions.`,
  ];
}

const signed = (value: number) => `${value < 0 ? '-' : '+'}${Math.abs(value).toFixed(3)}`;

function worstLines({ question, ndcg, relevant, instead, words }: WorstQuestion, screen: Screen): string[] {
  const wanted = relevant.map(({ id, rank }) => `${printableLine(id)} (${rank ?? 'not in the first 100'})`);
  const unknown = words.all === 0 ? ', no words' : words.known === 0 ? ', no known word' : '';
  return [
    `  ${printableLine(question)}`,
    `    nDCG ${ndcg.toFixed(3)}${unknown}; wanted, by rank: ${ellipsize(wanted.join(', '), 160)}`,
    ...instead.map(({ id, text, rank }) =>
      screen.dim(
        ellipsize(`    instead #${rank}  ${printableLine(id)}  ${printableLine(text)}`, screen.width),
      ),
    ),
  ];
}
