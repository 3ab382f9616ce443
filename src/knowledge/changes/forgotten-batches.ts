import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { isJsonWith, readRegular } from '../../../lib/basics.js';
import { LorekeepError } from '../../../lib/internal.js';
import { putBesideLog } from './log-file.js';

/** Batches of a log that removed records, as a process that follows it has applied them: those after a version. */
export interface RemovedRecords {
  /** Id of the log. */
  log: string;
  after: number;
  upTo: number;
  ids: readonly string[];
}

/** A batch whose records were forgotten. */
interface ForgottenBatch {
  log: string;
  version: number;
}

/** Beside the change log and as closed as it, for other processes: which of the last batches forgot records. It names no record. */
export const forgottenBatchesOf = (changes: string): string => `${changes}.forgotten`;

const isOurs = isJsonWith(({ kind }) => kind === 'lorekeep forgotten batches');
const maxBytes = 1024 * 1024;
/** Batches that the file names: the last ones. A process that follows the log looks four times a second. */
const mostBatches = 1000;
/** Removed records that may turn out to be forgotten: the latest ones. */
const mostIds = 100_000;

async function readBatches(changes: string): Promise<ForgottenBatch[]> {
  const content = await readRegular(forgottenBatchesOf(changes), maxBytes).catch(() => '');
  return isOurs(content) ? (JSON.parse(content) as { batches: ForgottenBatch[] }).batches : [];
}

/** Tells other processes that the records which a batch removed are forgotten. @throws IO, CORRUPT for a file that is not ours */
export async function tellForgotten(changes: string, batches: readonly ForgottenBatch[]): Promise<void> {
  const file = forgottenBatchesOf(changes);
  if (existsSync(file) && !isOurs(await readRegular(file, maxBytes)))
    throw LorekeepError.about('CORRUPT', { file, reason: 'is not a list of batches', remedy: 'remove it' });
  const all = [...(await readBatches(changes)), ...batches].slice(-mostBatches);
  const content = { kind: 'lorekeep forgotten batches', version: 1, batches: all };
  await putBesideLog(file, [Buffer.from(`${JSON.stringify(content)}\n`)]);
}

/** The records that other processes removed, until it is clear whether they were forgotten: then they have to leave memory. */
export class ForgottenByOthers {
  readonly #changes: string;
  #removed: RemovedRecords[] = [];
  #ids = 0;
  #seen = '';

  constructor(changes: string) {
    this.#changes = changes;
  }

  add(removed: RemovedRecords): void {
    this.#removed.push(removed);
    this.#ids += removed.ids.length;
    while (this.#ids > mostIds && this.#removed.length > 1)
      this.#ids -= this.#removed.shift()?.ids.length ?? 0;
    this.#seen = '';
  }

  /** Returns the ids of records that were forgotten since the last call. */
  async take(): Promise<string[]> {
    if (this.#removed.length === 0) return [];
    const found = await stat(forgottenBatchesOf(this.#changes), { bigint: true }).catch(() => undefined);
    const stamp = found === undefined ? '' : `${found.ino}:${found.size}:${found.mtimeNs}`;
    if (stamp === this.#seen) return [];
    this.#seen = stamp;
    const versions = new Map<string, number[]>();
    for (const { log, version } of await readBatches(this.#changes))
      versions.set(log, [...(versions.get(log) ?? []), version]);
    const isForgotten = ({ log, after, upTo }: RemovedRecords) =>
      versions.get(log)?.some((version) => version > after && version <= upTo) === true;
    const forgotten = this.#removed.filter(isForgotten);
    this.#removed = this.#removed.filter((one) => !isForgotten(one));
    const ids = forgotten.flatMap((one) => one.ids);
    this.#ids -= ids.length;
    return ids;
  }
}
