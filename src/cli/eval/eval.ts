import { open, rm } from 'node:fs/promises';
import { LorekeepError, type StoredRecord } from '../../../lib/internal.js';
import {
  draftQuestions,
  type EvaluationQuestion,
  evaluate,
  type KnowledgeBase,
  openKnowledgeBase,
  questionLine,
  readQuestions,
} from '../../knowledge/index.js';
import { UsageError } from '../failure.js';
import type { ModelFlags } from '../flags/model.js';
import { interruptible } from '../interrupt.js';
import { findKnowledgeBase } from '../knowledge-base-place.js';
import { CommandModels } from '../models.js';
import { note, print, printJson, warn, warnWithCause } from '../output.js';
import { counted } from '../terminal/amounts.js';
import { printable } from '../terminal/printable.js';
import { progressView } from '../terminal/progress.js';
import { Screen } from '../terminal/screen.js';
import { adviceOf } from './advice.js';
import { reportLines } from './report.js';

export interface EvalFlags extends ModelFlags {
  topK: number;
  worst: number;
  draft?: number;
  json?: boolean;
}

const quietMs = 1000;

/** Records read at once for drafts. */
const recordsAtOnce = 10_000;

/** `lorekeep eval`: drafts questions if asked to, measures every setting, prints the table, the worst questions and advice. */
export async function evaluateCommand(given: string, questionsFile: string, flags: EvalFlags): Promise<void> {
  if (questionsFile === '') throw new UsageError('the name of the questions file is empty');
  const file = await findKnowledgeBase(given);
  await interruptible(async (signal) => {
    const given = flags.draft === undefined ? await questionsOf(questionsFile) : undefined;
    await using models = await CommandModels.open(flags);
    const view = progressView(process.stderr, { quietMs, json: flags.json });
    const log = { info: () => {}, warn: warnWithCause };
    const onProgress = view.update.bind(view);
    const opening = openKnowledgeBase(file, {
      models,
      connections: models.connections,
      signal,
      log,
      onProgress,
    });
    await using kb = await opening.finally(() => view.stop());
    const questions = given ?? (await writeDrafts(kb, { file, questionsFile, count: flags.draft ?? 0 }));
    const { topK, worst } = flags;
    const asked = (done: number, total: number) => view.update({ phase: 'questions', done, total });
    const evaluating = evaluate(kb, questions, { topK, worst, signal, onProgress: asked });
    const evaluation = await evaluating
      .finally(() => view.stop())
      .catch((error) => {
        throw evaluationFailure(error, questionsFile);
      });
    const { unknownIds } = evaluation;
    if (unknownIds.length > 0) warn(unknownIdsWarning(unknownIds, questionsFile));
    const advice = adviceOf(evaluation, kb.config);
    if (flags.json) return printJson({ ...evaluation, advice });
    for (const line of reportLines(evaluation, advice, new Screen(process.stdout))) print(line);
  });
}

/** An error about all questions is one about their file. */
function evaluationFailure(error: unknown, file: string): unknown {
  if (!(error instanceof LorekeepError) || error.detail.field !== 'questions') return error;
  return LorekeepError.about(error.code, { file, reason: String(error.detail.reason) }, { cause: error });
}

const listedIds = 10;

function unknownIdsWarning(ids: readonly string[], questionsFile: string): string {
  const listed = ids.slice(0, listedIds).map((id) => JSON.stringify(id.slice(0, 128)));
  const more = ids.length > listedIds ? `, and ${ids.length - listedIds} more` : '';
  return `${questionsFile}: no record has ${ids.length === 1 ? 'the id' : 'the ids'} ${listed.join(', ')}${more}; they count as not found`;
}

interface DraftPlaces {
  file: string;
  questionsFile: string;
  count: number;
}

/** Writes drafted questions to a new file, and returns them. */
async function writeDrafts(
  kb: KnowledgeBase,
  { file, questionsFile, count }: DraftPlaces,
): Promise<EvaluationQuestion[]> {
  const records: StoredRecord[] = [];
  while (records.length < kb.size)
    records.push(...(await kb.list({ offset: records.length, limit: recordsAtOnce })));
  const drafts = draftQuestions(records, count);
  if (drafts.length === 0) {
    const reason = 'no record has a title or a second sentence, so no question can be drafted; write some';
    throw LorekeepError.about('INVALID_ARGUMENT', { file, reason });
  }
  const lines = drafts.map((draft) => `${questionLine(draft)}\n`).join('');
  await writeNew(questionsFile, lines);
  note(`lorekeep: ${counted(drafts.length, 'question')} drafted in ${printable(questionsFile)}`);
  return drafts;
}

/** Writes a new file, whole or not at all. */
async function writeNew(path: string, text: string): Promise<void> {
  const failed = (error: NodeJS.ErrnoException): never => {
    if (error.code !== 'EEXIST') throw LorekeepError.about('IO', { file: path, reason: error.message });
    throw new UsageError(`--draft: ${printable(path)} exists already; drafts go to a new file`);
  };
  await using file = await open(path, 'wx').catch(failed);
  await file.writeFile(text).catch(async (error) => {
    await rm(path, { force: true });
    failed(error);
  });
}

async function questionsOf(file: string): Promise<EvaluationQuestion[]> {
  try {
    return await readQuestions(file);
  } catch (error) {
    if (!(error instanceof LorekeepError) || error.code !== 'NOT_FOUND') throw error;
    const remedy =
      'write one {"question": "...", "relevant": ["id", ...]} a line, or draft some with --draft 50';
    throw LorekeepError.about('NOT_FOUND', { file, reason: 'there is no such file', remedy });
  }
}
