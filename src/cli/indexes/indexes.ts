import {
  type IndexState,
  type ListedIndex,
  listIndexes,
  removeIndex,
} from '../../knowledge/folder/indexes.js';
import { exitStatus } from '../exit-status.js';
import { type FailureReport, failureReport, UsageError } from '../failure.js';
import { interruptible } from '../interrupt.js';
import { note, print, printFailure, printJson } from '../output.js';
import { count, counted, size } from '../terminal/amounts.js';
import { printable, printableLine } from '../terminal/printable.js';
import { Screen } from '../terminal/screen.js';
import { fittedTable } from '../terminal/table.js';

export interface IndexesFlags {
  json?: boolean;
}

const layout = [
  { title: 'folder', align: 'left', widest: 60, cut: 'middle' },
  { title: 'state', align: 'left' },
  { title: 'files', align: 'right' },
  { title: 'records', align: 'right' },
  { title: 'size', align: 'right' },
  { title: 'indexed', align: 'left' },
] as const;

/** `lorekeep indexes list`. */
export async function listCommand({ json }: IndexesFlags): Promise<void> {
  const indexes = await listIndexes();
  if (json) return printJson({ indexes });
  if (indexes.length === 0) return print('no folder is indexed');
  const { limit } = new Screen(process.stdout);
  for (const line of fittedTable(layout, indexes.map(rowOf), limit)) print(line);
  for (const index of indexes) {
    const lost = lostOf(index);
    if (lost !== undefined) note(`${printableLine(index.folder)}: ${lost}`);
  }
}

const rowOf = ({ folder, state, files, records, bytes, indexedAt }: ListedIndex): string[] => [
  printableLine(folder),
  state,
  count(files),
  count(records),
  size(bytes),
  indexedAt.slice(0, 16).replace('T', ' '),
];

const remarks: Record<IndexState, string | undefined> = {
  ready: undefined,
  gone: 'the folder is gone; its index is kept until the folder comes back or `lorekeep indexes remove` removes it',
  emptied: 'nothing is in the folder now; if it is of a disk, mount it before the folder is indexed again',
  empty: 'the folder had no text at the last run',
  unfinished: 'the first run goes on, or was interrupted; index the folder again to finish it',
  damaged: 'the index is damaged; index the folder again to repair it',
};

function lostOf({ state, missing, unread }: ListedIndex): string | undefined {
  const parts = [
    remarks[state],
    missing.length > 0 && state === 'damaged' ? `missing: ${missing.join(', ')}` : undefined,
    unread > 0 ? `${counted(unread, 'file')} could not be read, or parts of them` : undefined,
  ].filter((part) => part !== undefined);
  return parts.length === 0 ? undefined : parts.join('; ');
}

export interface RemoveIndexesFlags extends IndexesFlags {
  gone?: boolean;
}

/** An index that could not be removed, as `--json` prints it. */
interface KeptIndex extends FailureReport {
  folder: string;
}

/** `lorekeep indexes remove`. An index that cannot be removed does not end it. */
export async function removeCommand(folders: readonly string[], flags: RemoveIndexesFlags): Promise<void> {
  if (folders.length === 0 && flags.gone !== true)
    throw new UsageError('name an indexed folder, or all that are gone by --gone');
  if (folders.includes('')) throw new UsageError('the name of the folder is empty');
  await interruptible(async (signal) => {
    const gone = flags.gone ? (await listIndexes()).filter(({ state }) => state === 'gone') : [];
    const wanted = [...new Set([...folders, ...gone.map((index) => index.folder)])];
    const removed: ListedIndex[] = [];
    const kept: KeptIndex[] = [];
    for (const folder of wanted) {
      const index = await removeIndex(folder, signal).catch((error: unknown) => {
        signal.throwIfAborted();
        if (wanted.length === 1) throw error;
        printFailure(error);
        kept.push({ folder, ...failureReport(error) });
      });
      if (index === undefined) continue;
      removed.push(index);
      if (!flags.json)
        print(
          `removed the index of ${printable(index.folder)}: ${counted(index.records, 'record')}, ${size(index.bytes)}`,
        );
    }
    if (kept.length > 0) process.exitCode = exitStatus.failed;
    if (flags.json) printJson({ removed, ...(kept.length > 0 && { kept }) });
    else if (wanted.length === 0) print('no indexed folder is gone');
  });
}
