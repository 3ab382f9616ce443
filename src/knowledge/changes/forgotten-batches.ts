import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { isJsonWith, readRegular } from '../../../lib/basics.js';
import { LorekeepError } from '../../../lib/internal.js';
import { putBesideLog } from './log-file.js';
import { hasPendingForget } from './pending-forget.js';

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
const pathOf = (changes: string): string => `${changes}.forgotten`;

const isOurs = isJsonWith(({ kind }) => kind === 'lorekeep forgotten batches');
const maxBytes = 1024 * 1024;
/** Batches that the file names: the last ones. A process that follows the log looks four times a second. */
const mostBatches = 1000;
/** How long a removal may turn out to be a forgetting, in ms. */
const longestMs = 10 * 60 * 1000;

async function readBatches(changes: string): Promise<ForgottenBatch[]> {
  const content = await readRegular(pathOf(changes), maxBytes).catch(() => '');
  return isOurs(content) ? (JSON.parse(content) as { batches: ForgottenBatch[] }).batches : [];
}

/** Tells other processes that the records which a batch removed are forgotten. @throws IO, CORRUPT for a file that is not ours */
export async function tellForgotten(changes: string, batches: readonly ForgottenBatch[]): Promise<void> {
  const file = pathOf(changes);
  if (existsSync(file) && !isOurs(await readRegular(file, maxBytes)))
    throw LorekeepError.about('CORRUPT', { file, reason: 'is not a list of batches', remedy: 'remove it' });
  const all = [...(await readBatches(changes)), ...batches].slice(-mostBatches);
  const content = { kind: 'lorekeep forgotten batches', version: 1, batches: all };
  await putBesideLog(file, [Buffer.from(`${JSON.stringify(content)}\n`)]);
}

/** The records that other processes removed, until it is clear whether they were forgotten: then they have to leave memory. */
export class ForgottenByOthers {
  readonly #changes: string;
  #removed: (RemovedRecords & { since: number })[] = [];
  #seen = '';

  constructor(changes: string) {
    this.#changes = changes;
  }

  add(removed: RemovedRecords): void {
    this.#removed.push({ ...removed, since: performance.now() });
    this.#seen = '';
  }

  /** Returns the ids of records that were forgotten since the last call. */
  async take(): Promise<string[]> {
    if (this.#removed.length === 0) return [];
    const found = await stat(pathOf(this.#changes), { bigint: true }).catch(() => undefined);
    const stamp = found === undefined ? '' : `${found.ino}:${found.size}:${found.mtimeNs}`;
    if (stamp === this.#seen) return this.#expire();
    this.#seen = stamp;
    const batches = await readBatches(this.#changes);
    const isForgotten = ({ log, after, upTo }: RemovedRecords) =>
      batches.some((batch) => batch.log === log && batch.version > after && batch.version <= upTo);
    const forgotten = this.#removed.filter(isForgotten);
    this.#removed = this.#removed.filter((one) => !forgotten.includes(one));
    return forgotten.flatMap(({ ids }) => ids);
  }

  /** A forgetting that was interrupted may be completed at any time. */
  #expire(): string[] {
    const [first] = this.#removed;
    const isOld = first !== undefined && performance.now() - first.since > longestMs;
    if (isOld && !hasPendingForget(this.#changes)) this.#removed.shift();
    return [];
  }
}
