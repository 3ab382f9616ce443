import { LorekeepError } from '../../../lib/internal.js';
import { commandName, shellText } from '../../base/schema/shell-word.js';
import { type WatchFolderOptions, watchFolder } from '../../knowledge/folder/watch/watch-folder.js';
import type { WatchedChange } from '../../knowledge/folder/watch/watch-session.js';
import {
  type FileProblem,
  type FolderIndex,
  indexFolder,
  type LeftOut,
  type TableMapping,
  type UnfitModel,
} from '../../knowledge/index.js';
import { UsageError } from '../failure.js';
import type { ModelFlags } from '../flags/model.js';
import { interruptible } from '../interrupt.js';
import { CommandModels } from '../models.js';
import { note, print, printJson, printJsonLine, warnWithCause } from '../output.js';
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
  watch?: boolean;
  poll?: number;
  keepEmbeddings?: number;
  ocr?: boolean;
  ocrLanguage?: string;
  readability?: boolean;
  json?: boolean;
}

/** Phases shorter than this print nothing. */
const quietMs = 500;

/** `lorekeep index`: makes or updates the knowledge base of a folder. */
export async function indexCommand(folder: string, flags: IndexFlags): Promise<void> {
  if (folder === '') throw new UsageError('the name of the folder is empty');
  if (flags.poll !== undefined && flags.watch !== true)
    throw new UsageError('--poll: it has no effect without --watch');
  if (flags.ocrLanguage !== undefined && flags.ocr !== true)
    throw new UsageError('--ocr-language: it has no effect without --ocr');
  const mapping = (await jsonObjectArgument('--mapping', flags.mapping)) as TableMapping | undefined;
  await interruptible(async (signal) => {
    const started = performance.now();
    await using models = await CommandModels.open(flags);
    const view = progressView(process.stderr, { quietMs, json: flags.json });
    const log = { info() {}, warn: warnWithCause };
    const { include, exclude, gitignore, model, chunkSize, output, forgotten, keepEmbeddings } = flags;
    const { ocr, ocrLanguage, readability } = flags;
    const content = { include, exclude, gitignore, mapping, model, chunkSize, ocr, ocrLanguage, readability };
    const chosen = { ...content, keepEmbeddings };
    const options = { folder, output, forgotten, ...chosen, models, signal, log };
    const onProgress = view.update.bind(view);
    if (flags.watch)
      return await watchCommand(folder, { ...options, onProgress, poll: flags.poll }, view, flags);
    const index = await indexFolder({ ...options, onProgress })
      .catch((error) => {
        throw indexFailure(error);
      })
      .finally(() => view.stop());
    const ms = Math.round(performance.now() - started);
    if (flags.json) return printJson({ ...index, ms });
    printIndex({ folder, output }, index, ms);
  });
}

/** `lorekeep index --watch`: ends when the signal aborts. */
async function watchCommand(
  folder: string,
  options: WatchFolderOptions & { signal: AbortSignal },
  view: { stop(): void },
  { json }: IndexFlags,
): Promise<void> {
  let started = performance.now();
  const onIndex = (index: FolderIndex) => {
    view.stop();
    const ms = Math.round(performance.now() - started);
    started = performance.now();
    if (json) return printJsonLine({ kind: 'indexed', ...index, ms });
    printIndex({ folder, output: options.output }, index, ms);
    print(`watching ${printableLine(folder)}; Ctrl-C ends it`);
  };
  const onChange = (change: WatchedChange) =>
    json ? printJsonLine(change) : print(`${new Date().toLocaleTimeString('sv')} ${changeText(change)}`);
  await watchFolder({ ...options, onIndex, onChange })
    .catch((error) => {
      throw indexFailure(error);
    })
    .finally(() => view.stop());
}

function changeText(change: WatchedChange): string {
  if (change.kind === 'back') return 'the folder is back';
  if (change.kind === 'gone')
    return `the folder is gone (${printableLine(change.reason)}); its index stays, and the watch waits for it`;
  if (change.kind !== 'applied') return printableLine(change.reason);
  const { read, gone, added, replaced, removed, version, size, problems } = change;
  const files = Object.entries({ read, gone }).filter(([, files]) => files > 0);
  const records = Object.entries({ added, replaced, removed }).filter(([, count]) => count > 0);
  const told = (parts: typeof files) => parts.map(([name, number]) => `${count(number)} ${name}`).join(', ');
  const unread =
    problems.length > 0 ? `; ${counted(problems.length, 'file')} not indexed, or parts of them` : '';
  return `files: ${told(files)}; records: ${told(records) || 'none changed'}; version ${version} has ${counted(size, 'record')}${unread}`;
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
  const flag = field.replace(/^chunkSize/, 'chunk-size').replace(/^ocrLanguage/, 'ocr-language');
  return /^(mapping|model|chunk-size|include|exclude|ocr)/.test(flag)
    ? new UsageError(`--${flag}: ${reason}`)
    : error;
}

/** The folder and the place of its index as they were given. */
type GivenPlace = { folder: string; output: string | undefined };

function printIndex(place: GivenPlace, index: FolderIndex, ms: number): void {
  const { folder } = place;
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
  if (index.unfit !== undefined) printUnfit(place, index.unfit);
  printLeftOut(index.leftOut);
  printProblems(problems);
}

/** Says which model fits the languages of the folder, and how to get it. */
function printUnfit({ folder, output }: GivenPlace, { languages, better }: UnfitModel): void {
  const shown = languages.slice(0, maxLanguages).join(', ');
  note(
    `many texts are not English (${shown}): the model all-MiniLM-L6-v2 does not know their meaning, so their words are searched`,
  );
  if (better?.command === undefined && !better?.present) {
    note('  a model that knows them finds more: docs/guides/models.md');
    return;
  }
  const place = output === undefined ? '' : ` --output ${shellText(output)}`;
  const again = `${commandName()} index ${shellText(folder)}${place} --model ${shellText(better.model)}`;
  const commands = [better.command, again].filter((command) => command !== undefined).join(' && ');
  note(`  ${printableLine(better.model)} knows them: ${printableLine(commands)}`);
}

/** Languages that are named. */
const maxLanguages = 3;

/** Kinds that are named. */
const maxKinds = 8;

/** Says which kinds of files are not read, and the flag that reads them. */
function printLeftOut(leftOut: readonly LeftOut[]): void {
  if (leftOut.length === 0) return;
  const total = leftOut.reduce((sum, { files }) => sum + files, 0);
  const kinds = leftOut.map(
    ({ ending, files }) => `${count(files)} ${printableLine(ending) || 'without ending'}`,
  );
  const more = kinds.length > maxKinds ? `, and ${count(kinds.length - maxKinds)} more kinds` : '';
  note(`left out: ${counted(total, 'file')} of other kinds: ${kinds.slice(0, maxKinds).join(', ')}${more}`);
  const pictures = leftOut.flatMap(({ ending, flag }) => (flag === '--ocr' ? [ending] : []));
  if (pictures.length > 0) note(`  --ocr reads the text of pictures: ${pictures.join(', ')}`);
  const text = leftOut.find(({ flag }) => flag?.startsWith('--include'))?.flag;
  if (text !== undefined) note(`  ${printableLine(text)} reads such files as text, if they are`);
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
