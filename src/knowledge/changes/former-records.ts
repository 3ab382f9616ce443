import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { type ChangeLog, formerRecords as formerOf, type Storage } from '../../../lib/internal.js';
import { linesOf } from '../../documents/tables/lines.js';
import { type LogSource, readLog } from './base-log.js';

/** Characters of a line with a record; no record that update() takes is as long. */
const longestLine = 256 * 1024 * 1024;
/** Most bytes of a records file whose lines are no records that is parsed, which nothing may interrupt. */
const largestParsed = 4 * 1024 * 1024;

/** Records that had some ids, and the batches that removed or replaced them. */
export interface FormerRecords {
  records: { id: string; text: string }[];
  /** Ids that existed in a version that is kept, or in the files. */
  known: ReadonlySet<string>;
  /** Batches of the change log that changed them. */
  batches: { log: string; version: number }[];
}

/**
 * Finds what ids named before their records were removed or replaced: in versions that are kept, in the change log, and in the records
 * file that is not merged yet. @throws IO, CORRUPT, CANCELLED
 */
export async function formerRecords(
  storage: Storage,
  ids: readonly string[],
  source: LogSource,
): Promise<FormerRecords> {
  const found = new Found(new Set(ids));
  if (ids.length === 0) return found;
  for (const { id, text } of await formerOf(storage, ids, source.signal)) found.add(id, text);
  await using log = await readLog(source);
  if (log !== undefined) {
    const { baseVersion, version } = log.facts;
    const touched = await found.search(log, source, baseVersion, version);
    if (touched.size > 0) await found.read(source.files.records, touched);
  }
  return found;
}

class Found implements FormerRecords {
  readonly known = new Set<string>();
  readonly batches: { log: string; version: number }[] = [];
  readonly #wanted: ReadonlySet<string>;
  readonly #texts = new Map<string, { id: string; text: string }>();

  constructor(wanted: ReadonlySet<string>) {
    this.#wanted = wanted;
  }

  get records(): { id: string; text: string }[] {
    return [...this.#texts.values()];
  }

  add(id: string, text: string): void {
    this.known.add(id);
    this.#texts.set(JSON.stringify([id, text]), { id, text });
  }

  /** Searches the batches in (after, upTo], halving ranges that have one of the ids. Returns the ids that batches changed. */
  async search(log: ChangeLog, source: LogSource, after: number, upTo: number): Promise<Set<string>> {
    await using folded = await log.fold({ after, upTo }, source.config.fields, { signal: source.signal });
    const { changed, removed } = folded.ids();
    const mine = changed.filter(({ id }) => this.#wanted.has(id));
    const gone = removed.filter((id) => this.#wanted.has(id));
    const touched = new Set([...mine.map(({ id }) => id), ...gone]);
    if (touched.size === 0) return touched;
    for (const { id, text } of mine) this.add(id, text);
    for (const id of gone) this.known.add(id);
    if (upTo - after <= 1) this.batches.push({ log: log.facts.id, version: upTo });
    else {
      const middle = after + Math.floor((upTo - after) / 2);
      await this.search(log, source, after, middle);
      await this.search(log, source, middle, upTo);
    }
    return touched;
  }

  /** Reads the records of a file that has one per line, as indexing and merges write them, or is small. */
  async read(file: string, ids: ReadonlySet<string>): Promise<void> {
    const quoted = [...ids].map((id) => JSON.stringify(id));
    const take = (record: unknown) => {
      const { id, text } = (record ?? {}) as { id?: unknown; text?: unknown };
      if (typeof id === 'string' && typeof text === 'string' && ids.has(id)) this.add(id, text);
    };
    const pieces = createReadStream(file, { encoding: 'utf8' }) as AsyncIterable<string>;
    let isByLines = true;
    for await (const { text: line } of linesOf(pieces, longestLine)) {
      if (line === undefined || !quoted.some((id) => line.includes(id))) continue;
      const record = line.startsWith('{') ? parsed(line.trim().replace(/,$/, '')) : undefined;
      isByLines &&= record !== undefined;
      take(record);
    }
    if (isByLines || (await stat(file)).size > largestParsed) return;
    const whole = parsed(await readFile(file, 'utf8'));
    if (Array.isArray(whole)) whole.forEach(take);
  }
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
