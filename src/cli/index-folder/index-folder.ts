import { LorekeepError } from '../../../lib/internal.js';
import {
  type FileProblem,
  type FolderIndex,
  indexFolder,
  type LeftOut,
  type TableMapping,
} from '../../knowledge/index.js';
import { UsageError } from '../failure.js';
import type { ModelFlags } from '../flags/model.js';
import { interruptible } from '../interrupt.js';
import { CommandModels } from '../models.js';
import { note, print, printJson, warnWithCause } from '../output.js';
import { jsonObjectArgument } from '../search/json-argument.js';
import { count, counted, duration } from '../terminal/amounts.js';
import { printableLine } from '../terminal/printable.js';
import { progressView } from '../terminal/progress.js';

export interface IndexFlags extends ModelFlags {
  include?: string[];
  exclude?: string[];
  gitignore: boolean;
  mapping?: string;
  model?: string;
  chunkSize?: number;
  output?: string;
  forgotten?: boolean;
  json?: boolean;
}

/** Phases shorter than this print nothing. */
const quietMs = 500;

/** `lorekeep index`: makes or updates the knowledge base of a folder. */
export async function indexCommand(folder: string, flags: IndexFlags): Promise<void> {
  if (folder === '') throw new UsageError('the name of the folder is empty');
  const mapping = (await jsonObjectArgument('--mapping', flags.mapping)) as TableMapping | undefined;
  await interruptible(async (signal) => {
    const started = performance.now();
    await using models = await CommandModels.open(flags);
    const view = progressView(process.stderr, { quietMs, json: flags.json });
    const log = { info() {}, warn: warnWithCause };
    const { include, exclude, gitignore, model, chunkSize, output, forgotten } = flags;
    const options = { folder, include, exclude, gitignore, mapping, model, chunkSize, output, forgotten };
    const onProgress = view.update.bind(view);
    const index = await indexFolder({ ...options, models, signal, log, onProgress })
      .catch((error) => {
        throw indexFailure(error);
      })
      .finally(() => view.stop());
    const ms = Math.round(performance.now() - started);
    if (flags.json) return printJson({ ...index, ms });
    printIndex(folder, index, ms);
  });
}

/** The command line names the flags. */
function indexFailure(error: unknown): unknown {
  if (!(error instanceof LorekeepError) || error.code !== 'INVALID_ARGUMENT') return error;
  const { field, reason, problems } = error.detail as {
    field?: string;
    reason?: string;
    problems?: readonly FileProblem[];
  };
  if (problems !== undefined) printProblems(problems);
  if (field === undefined || reason === undefined || field === 'output') return error;
  const flag = field.replace(/^chunkSize/, 'chunk-size');
  return /^(mapping|model|chunk-size|include|exclude)/.test(flag)
    ? new UsageError(`--${flag}: ${reason}`)
    : error;
}

function printIndex(folder: string, index: FolderIndex, ms: number): void {
  const { records, files, read, removed, reused, embedded, problems } = index;
  const changes = [
    `${counted(read, 'file')} read`,
    ...(removed > 0 ? [`${count(removed)} removed`] : []),
    `${counted(embedded, 'text')} embedded`,
    ...(reused > 0 ? [`${count(reused)} kept`] : []),
  ];
  print(
    `${printableLine(folder)}: ${counted(records, 'record')} of ${counted(files, 'file')} in ${duration(ms)} (${changes.join(', ')})`,
  );
  print(
    records === 0
      ? `${printableLine(folder)} has no text any more; searches of it find nothing`
      : `knowledge base: ${printableLine(index.config)}`,
  );
  printLeftOut(index.leftOut);
  printProblems(problems);
}

/** Kinds that are named. */
const maxKinds = 8;

/** Says which kinds of files are not read, and the flag that reads them. */
function printLeftOut(leftOut: readonly LeftOut[]): void {
  const [first] = leftOut;
  if (first === undefined) return;
  const total = leftOut.reduce((sum, { files }) => sum + files, 0);
  const kinds = leftOut.map(
    ({ ending, files }) => `${count(files)} ${printableLine(ending) || 'without ending'}`,
  );
  const more = kinds.length > maxKinds ? `, and ${count(kinds.length - maxKinds)} more kinds` : '';
  const pattern = first.ending === '' ? 'NAME' : `*${printableLine(first.ending)}`;
  note(`left out: ${counted(total, 'file')} of other kinds: ${kinds.slice(0, maxKinds).join(', ')}${more}`);
  note(`  --include "${pattern}" reads such files as text, if they are`);
}

/** Files named for one reason, and reasons shown. */
const maxPaths = 5;
const maxReasons = 20;

/** Lists the files that were left out: one line per reason. */
function printProblems(problems: readonly FileProblem[]): void {
  if (problems.length === 0) return;
  const byReason = new Map<string, string[]>();
  for (const { path, reason } of problems) byReason.set(reason, [...(byReason.get(reason) ?? []), path]);
  note(`not indexed: ${counted(new Set(problems.map(({ path }) => path)).size, 'file')}, or parts of them`);
  for (const [reason, paths] of [...byReason].slice(0, maxReasons)) {
    const more = paths.length > maxPaths ? ` and ${count(paths.length - maxPaths)} more` : '';
    const shown = paths.slice(0, maxPaths).map(printableLine).join(', ');
    note(`  ${shown}${more}: ${printableLine(reason)}`);
  }
  if (byReason.size > maxReasons)
    note(`  and ${count(byReason.size - maxReasons)} more reasons; --json has all`);
}
