import type { StorageChanges, StoredRecord, UpdateResult } from '../../../lib/internal.js';
import { untilAborted } from '../../base/waiting/until-aborted.js';
import { documentsOf } from '../../knowledge/folder/documents-of.js';
import { type KnowledgeBase, openKnowledgeBase } from '../../knowledge/index.js';
import { CommandError, UsageError } from '../failure.js';
import type { ModelFlags } from '../flags/model.js';
import { interruptible } from '../interrupt.js';
import { findKnowledgeBase } from '../knowledge-base-place.js';
import { CommandModels } from '../models.js';
import { note, print, printJson, warnWithCause } from '../output.js';
import { jsonArgument } from '../search/json-argument.js';
import { counted } from '../terminal/amounts.js';
import { ellipsize } from '../terminal/columns.js';
import { printable, printableLine } from '../terminal/printable.js';
import { progressView } from '../terminal/progress.js';
import { type RecordFlags, recordsInput } from './records-input.js';
import {
  type ForgetHere,
  type ForgottenFacts,
  forgetEverywhere,
  letGoElsewhere,
  updateThrough,
} from './through-process.js';

export interface ChangeFlags extends ModelFlags {
  ifVersion?: number;
  json?: boolean;
}

export interface AddFlags extends ChangeFlags, RecordFlags {
  replace?: boolean;
  upsert?: boolean;
}

/** `lorekeep add`: adds or replaces records. */
export async function add(base: string, files: readonly string[], flags: AddFlags): Promise<void> {
  if (flags.replace && flags.upsert) throw new UsageError('--replace and --upsert: one of them is expected');
  const records = await recordsInput(files, flags);
  const upsert = flags.upsert === true;
  await change(base, flags, flags.replace ? { replace: records } : { add: records, upsert });
}

/** `lorekeep remove`: removes records by id. */
export async function remove(base: string, ids: readonly string[], flags: ChangeFlags): Promise<void> {
  await change(base, flags, { remove: ids });
}

async function change(base: string, flags: ChangeFlags, changes: StorageChanges): Promise<void> {
  const { ifVersion } = flags;
  const batch = { ...changes, ...(ifVersion !== undefined && { ifVersion }) };
  const file = await findKnowledgeBase(base);
  const through = await interruptible((signal) => updateThrough(file, batch, signal));
  if (through !== undefined) return printUpdate(through, flags);
  await withBase(base, flags, async (kb, signal) => {
    printUpdate(await kb.update(batch, { signal }), flags);
    await untilAborted(kb.changes.completed(), signal);
  });
}

function printUpdate(result: UpdateResult, { json }: ChangeFlags): void {
  if (json) printJson(result);
  else print(sentence(result));
}

function sentence({ version, added, replaced, removed, size }: UpdateResult): string {
  const parts = Object.entries({ added, replaced, removed }).filter(([, count]) => count > 0);
  const done = parts.map(([name, count]) => `${count} ${name}`).join(', ');
  return `${done || 'nothing changed'}; version ${version} has ${counted(size, 'record')}`;
}

/** `lorekeep merge`: writes the changes into the files. */
export async function merge(base: string, flags: ChangeFlags): Promise<void> {
  await withBase(base, flags, async (kb, signal) => {
    await letGoElsewhere(await findKnowledgeBase(base), signal);
    await kb.merge({ signal });
    const { version, size } = kb;
    if (flags.json) printJson({ version, size });
    else print(`the files have version ${version} with ${counted(size, 'record')}`);
  });
}

export interface ForgetFlags extends ChangeFlags {
  verify?: boolean;
  histories?: boolean;
}

/** `lorekeep forget`: removes records from every file, and from the processes that have the knowledge base open. */
export async function forget(base: string, ids: readonly string[], flags: ForgetFlags): Promise<void> {
  const file = await findKnowledgeBase(base);
  const verify = flags.verify === true;
  const here = async () => {
    let done: Awaited<ReturnType<ForgetHere>> | undefined;
    await withBase(base, flags, async (kb, signal) => {
      const { filesWith, ...result } = await kb.forget(ids, { signal });
      done = { ...result, filesWith: verify ? await filesWith() : undefined };
    });
    return done as Awaited<ReturnType<ForgetHere>>;
  };
  const options = { verify, histories: flags.histories === true };
  const forgotten = await interruptible((signal) => forgetEverywhere(file, ids, options, here, signal));
  printForgotten(forgotten, await documentsOf(file, ids), flags);
}

/** `documents`: files of an indexed folder that gave the records. */
function printForgotten(
  { filesWith, histories, unreached, ...result }: ForgottenFacts,
  documents: readonly string[],
  { json }: ForgetFlags,
): void {
  if (json) {
    printJson({
      ...{ ...result, histories },
      ...(documents.length > 0 && { documents }),
      ...(unreached.length > 0 && { unreached }),
      ...(filesWith !== undefined && { files_with: filesWith }),
    });
  } else {
    const { removed, version, size } = result;
    print(`${counted(removed, 'record')} forgotten; version ${version} has ${counted(size, 'record')}`);
    for (const { agent, session, turns, removed: isGone } of histories) {
      const where = `agent ${printable(agent)} of session ${printable(session)}, ${turns.length === 1 ? 'turn' : 'turns'} ${turns.join(', ')}`;
      print(
        isGone
          ? `removed from a history: ${where}`
          : `quoted by a history, which --histories removes: ${where}`,
      );
    }
    if (documents.length > 0)
      print(
        `documents that may still have the text, which indexing leaves out: ${documents.map((path) => printable(path)).join(', ')}`,
      );
  }
  if (unreached.length > 0)
    note(
      `processes that do not answer and have the records in memory until they go on or end: ${unreached.join(', ')}`,
    );
  if (filesWith === undefined) return;
  if (filesWith.length === 0) {
    if (!json) print('no file in the folders of the knowledge base has the text');
    return;
  }
  const listed = filesWith.map((file) => printable(file)).join(', ');
  throw new CommandError(
    'INVALID_ARGUMENT',
    `files in the folders of the knowledge base still have the text, which may be that of another record: ${listed}`,
  );
}

/** `lorekeep backup`: copies the knowledge base. */
export async function backup(base: string, folder: string, flags: ChangeFlags): Promise<void> {
  await withBase(base, flags, async (kb) => {
    const copied = await kb.backup(folder);
    if (flags.json) printJson(copied);
    else print(`version ${copied.version} copied; open it as ${printable(copied.config)}`);
  });
}

/** `lorekeep get`: shows records by id. */
export async function get(base: string, ids: readonly string[], flags: ChangeFlags): Promise<void> {
  await withBase(base, flags, async (kb, signal) => {
    await using view = kb.at(kb.version);
    const found = await Promise.all(ids.map((id) => view.get(id, { signal })));
    const missing = ids.filter((_, index) => found[index] === undefined);
    const records = found.filter((record) => record !== undefined);
    if (flags.json && missing.length === 0)
      printJson({ version: view.version, records: records.map(shownRecord) });
    if (!flags.json)
      for (const { id, text } of records) print(`${printableLine(id)}  ${printableLine(text)}`);
    const [first] = missing;
    if (first === undefined) return;
    throw new CommandError(
      'NOT_FOUND',
      `no record has the id ${missing.map((id) => JSON.stringify(id)).join(', ')}`,
    );
  });
}

export interface ListFlags extends ChangeFlags {
  filter?: string;
  limit?: number;
  offset?: number;
}

/** `lorekeep list`: lists records in their order. */
export async function list(base: string, flags: ListFlags): Promise<void> {
  const given = await jsonArgument('--filter', flags.filter);
  const filter = given === undefined ? {} : { filter: given as never };
  await withBase(base, flags, async (kb, signal) => {
    const { limit, offset } = flags;
    // Another process may change the base meanwhile.
    await using view = kb.at(kb.version);
    const { version } = view;
    const records = await view.list({ ...filter, limit, offset, signal });
    const all = await view.count({ ...filter, signal });
    if (flags.json) return printJson({ version, count: all, records: records.map(shownRecord) });
    for (const { id, text } of records)
      print(`${printableLine(id)}  ${ellipsize(printableLine(text), textColumns)}`);
    note(`${counted(records.length, 'record')} of ${all}; version ${version}`);
  });
}

/** Columns of a text in a list. */
const textColumns = 100;

const shownRecord = ({ id, text, metadata }: StoredRecord) => ({
  id,
  text,
  ...(metadata !== undefined && { metadata }),
});

/** Opening prints progress after this many milliseconds. */
const quietMs = 1000;

async function withBase(
  base: string,
  flags: ChangeFlags,
  work: (kb: KnowledgeBase, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const file = await findKnowledgeBase(base);
  await interruptible(async (signal) => {
    await using models = await CommandModels.open(flags);
    const view = progressView(process.stderr, { quietMs, json: flags.json });
    const log = { info() {}, warn: warnWithCause };
    const onProgress = view.update.bind(view);
    try {
      await using kb = await openKnowledgeBase(file, {
        models,
        connections: models.connections,
        signal,
        log,
        onProgress,
      });
      view.stop();
      await work(kb, signal);
    } finally {
      view.stop();
    }
  });
}
