import { stat } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { commandName, shellWord } from '../base/schema/shell-word.js';
import { type IndexedFolder, indexesFor, indexFiles, indexOf } from '../knowledge/folder/place.js';
import { CommandError, UsageError } from './failure.js';
import { requireKnowledgeBaseFile } from './knowledge-base-file.js';
import { note } from './output.js';
import { counted } from './terminal/amounts.js';
import { printable } from './terminal/printable.js';

/** The config that is used if no knowledge base is named. */
const fileHere = 'kb.json';

/**
 * Returns the config of a knowledge base. `given` is its path, or a folder that was indexed or has a kb.json; without it, kb.json
 * in the current folder, or the latest index of the current folder, of the nearest folder above, and of the folders below.
 * @throws UsageError, CommandError
 */
export async function findKnowledgeBase(given: string | undefined): Promise<string> {
  if (given === undefined) return (await isFile(fileHere)) ? fileHere : chosen(await indexesFor('.'));
  if (given === '')
    throw new UsageError('the name of the knowledge base is empty; a file or a folder is expected');
  const found = await stat(given).catch(() => undefined);
  const gone = found === undefined ? await indexOf(given) : undefined;
  if (gone !== undefined) return configOf(gone);
  if (found?.isDirectory() !== true) {
    await requireKnowledgeBaseFile(given);
    return given;
  }
  const index = await indexOf(given);
  if (index !== undefined) return configOf(index);
  const inside = join(given, fileHere);
  if (await isFile(inside)) return inside;
  throw new CommandError(
    'NOT_FOUND',
    `${given}: is a folder that is not indexed; run: ${commandName()} index ${shellWord(given)}`,
  );
}

async function chosen([first, ...others]: readonly IndexedFolder[]): Promise<string> {
  if (first === undefined) {
    const message = `there is no ${fileHere} here, and no index of this folder; run: ${commandName()} index FOLDER, or name a knowledge base`;
    throw new CommandError('NOT_FOUND', message);
  }
  if (others.length > 0) {
    const shown = (index: IndexedFolder) => printable(relative('.', index.folder) || '.');
    const rest = others.slice(0, 5).map(shown).join(', ');
    note(
      `lorekeep: searching ${shown(first)}, the latest index; name a folder to search another one: ${rest}`,
    );
  }
  return configOf(first);
}

/** @throws CommandError for an index without text, and for one of a folder that is gone */
async function configOf({ config, empty, folder, built, records, progress }: IndexedFolder): Promise<string> {
  const isFirst = built === null && !(await isFile(join(dirname(config), indexFiles.index_file)));
  const reason =
    isFirst && empty !== true
      ? `is being indexed, or its first index was interrupted (${progressText(records, progress)}); search again when it has finished, or run: ${commandName()} index ${shellWord(folder)}`
      : empty === true
        ? 'had no text to index at the last run; it has nothing to find'
        : (await stat(folder).catch(() => undefined)) === undefined
          ? `is gone; its index is kept, but not searched. Bring the folder back, or run: ${commandName()} indexes remove ${shellWord(folder)}`
          : undefined;
  if (reason === undefined) return config;
  throw new CommandError('NOT_FOUND', `${printable(folder)}: ${reason}`);
}

const isFile = async (path: string) => (await stat(path).catch(() => undefined))?.isFile() === true;

/** How far the first run has come. */
function progressText(records: number, progress: IndexedFolder['progress']): string {
  if (records === 0) return 'its files are read';
  const { done, total } = progress ?? { done: 0, total: records };
  return `${Math.floor((100 * done) / Math.max(1, total))} % of ${counted(records, 'record')}`;
}
