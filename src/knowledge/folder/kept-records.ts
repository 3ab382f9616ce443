import { createReadStream } from 'node:fs';
import { factsAt } from '../../../lib/basics.js';
import { linesOf } from '../../documents/tables/lines.js';
import { hasBatches, readLog } from '../changes/base-log.js';
import { originKey } from '../changes/record-json.js';

/** A record that no file gave: update() added it. */
export interface KeptRecord {
  id: string;
  json: string;
}

const mark = `"${originKey}":`;

/** Characters of the line of a record; no record that update() takes is as long. */
const longestRecord = 256 * 1024 * 1024;

/** Yields the records of an index that were added by update(). Their lines hold one record each. */
export async function* keptRecords(recordsFile: string): AsyncGenerator<KeptRecord> {
  if ((await factsAt(recordsFile)) === undefined) return;
  const pieces = createReadStream(recordsFile, { encoding: 'utf8' }) as AsyncIterable<string>;
  for await (const { text: line } of linesOf(pieces, longestRecord)) {
    if (!line?.includes(mark)) continue;
    const json = line.replace(/,?\r?$/, '');
    const record = parsed(json);
    if (record !== undefined && Object.hasOwn(record, originKey)) yield { id: String(record.id), json };
  }
}

function parsed(json: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** Whether an index has changes that are not merged into its records file. */
export async function hasChanges(recordsFile: string, signal: AbortSignal | undefined): Promise<boolean> {
  await using log = await readLog({ files: { changes: `${recordsFile}.changes` }, signal });
  return log !== undefined && hasBatches(log.facts);
}
