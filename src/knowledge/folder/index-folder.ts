import { lstat, open, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import {
  isJsonWith,
  makeFolder,
  readRegular,
  replaceFile,
  stampAt,
  systemReason,
} from '../../../lib/basics.js';
import { inspectFile, LorekeepError } from '../../../lib/internal.js';
import { lockFolder } from '../../base/files/folder-lock.js';
import { hasColumns } from '../../documents/formats/formats.js';
import { buildKnowledgeBase, type KnowledgeBaseBuild } from '../build.js';
import { lockSoon } from '../changes/base-log.js';
import { noLog } from '../log.js';
import { holdModel, type KnowledgeModel, type ModelSource, modelResolver } from '../model.js';
import { canLearn, isLearned, learnLeastRelevance } from '../nonsense/least-relevance.js';
import { openKnowledgeBase } from '../open.js';
import { noProgress, PhaseReport, type ProgressListener } from '../progress.js';
import { ownSearch, writtenSearch } from '../search-config.js';
import { FolderReader } from './folder-reader.js';
import { liftForgotten, readForgotten } from './forgotten.js';
import { configText, isIndexConfig, maxConfigBytes, searchOf } from './index-config.js';
import { hasChanges, keptRecords } from './kept-records.js';
import type { LeftOut } from './left-out.js';
import { type FileEntry, isManifest, manifestText, readManifest } from './manifest.js';
import { chooseModel, type ModelChoice, type UnfitModel, unfitModel } from './model-choice.js';
import { takeOverMoved } from './moved.js';
import { checkIndexOptions, type IndexFolderOptions, repeatedOptions } from './options.js';
import {
  existingFolder,
  type FolderFacts,
  fileNames,
  folderIdentity,
  formerIdentities,
  indexFiles,
  placeOfOptions,
  readFacts,
} from './place.js';
import { type FileProblem, noText, problemsOf } from './problems.js';
import { ProgressNotes } from './progress-notes.js';
import { RecordsWriter } from './records-writer.js';
import type { ScannedFile } from './scan.js';
import { watcherOf } from './watch/watch-lock.js';

export type { LeftOut } from './left-out.js';
export type { UnfitModel } from './model-choice.js';
export type { FileProblem } from './problems.js';

/** The result of indexing a folder. */
export interface FolderIndex {
  /** Absolute path of the folder. */
  folder: string;
  /** Absolute path of the config of its knowledge base. */
  config: string;
  /** Files with records. */
  files: number;
  /** Files that were read, because they are new or have changed. */
  read: number;
  /** Files of the last run that are gone or left out now. */
  removed: number;
  /** Records of the knowledge base, with those that were added to it. */
  records: number;
  /** Texts that were embedded, and records whose embedding was there. */
  embedded: number;
  reused: number;
  /** Files whose kind is not read, by ending, with the flag that reads them; the most frequent first. */
  leftOut: LeftOut[];
  problems: FileProblem[];
  /** The index's model does not know the languages of the texts; absent if it does, or if they were not looked at. */
  unfit?: UnfitModel;
}

const mappingWithoutTables = 'mapping: it has no effect: there is no CSV or JSON Lines file';

/**
 * Makes or updates the knowledge base of a folder. Only new and changed files are read, and only new texts are embedded.
 * @throws LorekeepError: NOT_FOUND, INVALID_ARGUMENT (options; a folder without text; files in `output` that are not of an index),
 * IO, CANCELLED; as buildKnowledgeBase()
 */
export async function indexFolder(options: IndexFolderOptions): Promise<FolderIndex> {
  checkIndexOptions(options);
  const folder = await existingFolder(options.folder);
  const place = placeOfOptions(folder, options.output);
  const watcher = await watcherOf(place);
  const facts = watcher === undefined ? undefined : await readFacts(place);
  if (facts === undefined) return indexWatched(options);
  (options.log ?? noLog).info(
    { folder, process: watcher },
    'another process watches the folder and keeps its index current',
  );
  return indexOfFacts(facts, place);
}

/** The result of a run that found nothing to do. */
export function indexOfFacts({ folder, files, records }: FolderFacts, place: string): FolderIndex {
  const config = join(place, fileNames.config);
  const unchanged = { read: 0, removed: 0, embedded: 0, reused: records, leftOut: [], problems: [] };
  return { folder, config, files, records, ...unchanged };
}

/** Like indexFolder(), for the process that watches the folder. */
export async function indexWatched(options: IndexFolderOptions): Promise<FolderIndex> {
  checkIndexOptions(options);
  const folder = await existingFolder(options.folder);
  const place = placeOfOptions(folder, options.output);
  await preparePlace(place, options.output === undefined);
  const signal = options.signal ?? new AbortController().signal;
  const lock = await lockFolder(place, signal, () =>
    (options.log ?? noLog).warn({ folder: place }, 'another process is indexing this folder; waiting for it'),
  );
  let letGo = () => {};
  try {
    const lifted = options.forgotten === true;
    const named = resolve(options.folder);
    await takeOverMoved(folder, place, { named, lifted, signal, log: options.log ?? noLog });
    const choice = await choiceOf(options, folder, place);
    const model = await resolvedModel(options.models, choice.model);
    letGo = holdModel(model);
    const all = { ...options, model: choice.model };
    const identity = await folderIdentity(folder);
    const unknown = choice.unfit?.languages;
    await using indexing = new FolderIndexing(all, folder, place, model, identity, unknown);
    const index = await indexing.run();
    return choice.unfit === undefined ? index : { ...index, unfit: choice.unfit };
  } catch (error) {
    if (signal.aborted && !(error instanceof LorekeepError))
      throw new LorekeepError('CANCELLED', 'indexing was cancelled', {}, { cause: signal.reason });
    throw error;
  } finally {
    letGo();
    await lock.release();
  }
}

/** The model that the caller names, else that of the index, else one that fits the languages of the folder. */
async function choiceOf(options: IndexFolderOptions, folder: string, place: string): Promise<ModelChoice> {
  const model = await modelOfIndex(place);
  if (options.model !== undefined && options.model !== model) return { model: options.model };
  if (model === undefined) return chooseModel(folder, options);
  const languages = (await readFacts(place))?.unknownLanguages;
  return { model, unfit: languages && unfitModel(languages, options.models) };
}

/** Returns the model of the index at a place; undefined if it has no config. */
async function modelOfIndex(place: string): Promise<string | undefined> {
  const config = await readRegular(join(place, fileNames.config), maxConfigBytes).catch(() => '');
  const { embedding_model: model } = ours[fileNames.config](config) ? JSON.parse(config) : {};
  return typeof model === 'string' ? model : undefined;
}

/** @throws INVALID_ARGUMENT for an unknown name */
async function resolvedModel(models: ModelSource, name: string): Promise<KnowledgeModel> {
  const model = await modelResolver(models)(name);
  if (model !== undefined) return model;
  const reason = `there is no embedding model ${JSON.stringify(name)}`;
  throw LorekeepError.about('INVALID_ARGUMENT', { field: 'model', reason });
}

/** The records of a default place hold the texts of files that only this user may be able to read. */
const ownUserOnly = 0o700;

/** Refuses an output folder with files of the same names that are not of an index. */
async function preparePlace(place: string, isDefault: boolean): Promise<void> {
  try {
    makeFolder(place, isDefault ? ownUserOnly : undefined);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const isFile = code === 'EEXIST' || code === 'ENOTDIR';
    const reason = isFile
      ? 'is a file, or in one; a folder is expected'
      : `the folder cannot be made: ${systemReason(cause)}; choose another one by \`output\` (--output) or LOREKEEP_STATE`;
    throw LorekeepError.about('IO', { file: place, reason }, { cause });
  }
  // In a default place, they are those of a run that was killed, or of an index that was moved there in part.
  if (isDefault || (await readFacts(place)) !== undefined) return;
  for (const name of [...Object.values(fileNames), ...Object.values(indexFiles)]) {
    const file = join(place, name);
    // A link counts, wherever it leads.
    if ((await lstat(file).catch(() => undefined)) === undefined) continue;
    const reason =
      'exists and was not made by indexing a folder; choose another output folder, or move it away';
    throw LorekeepError.about('INVALID_ARGUMENT', { field: 'output', file, reason });
  }
}

const logOf = (records: string) => ({ files: { records, changes: `${records}.changes` } });

type RecordCounts = Pick<FolderFacts, 'files' | 'records' | 'kept'>;

/** How often the files are read before a run gives up because others change the records. */
const mostAttempts = 5;

const noRecords: RecordCounts = { files: 0, records: 0, kept: 0 };

class FolderIndexing implements AsyncDisposable {
  readonly #options: IndexFolderOptions & { model: string };
  readonly #folder: string;
  readonly #place: string;
  readonly #report: PhaseReport;
  readonly #reader: FolderReader;
  readonly #identity: string | undefined;
  readonly #unknownLanguages: readonly string[] | undefined;
  /** `search` as it is written into the config. */
  #search: object | undefined;
  #learned: FolderFacts['learned'];
  #formerIdentities: readonly string[] = [];
  /** Stays when the folder is named without links, as those who index before they search do. */
  #named: string | undefined;

  constructor(
    options: IndexFolderOptions & { model: string },
    folder: string,
    place: string,
    model: KnowledgeModel,
    identity: string | undefined,
    unknownLanguages: readonly string[] | undefined,
  ) {
    this.#options = options;
    this.#unknownLanguages = unknownLanguages;
    this.#identity = identity;
    this.#folder = folder;
    this.#place = place;
    this.#reader = new FolderReader(folder, options, model);
    this.#report = new PhaseReport(options.onProgress ?? noProgress);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#reader[Symbol.asyncDispose]();
  }

  async run(): Promise<FolderIndex> {
    const { settings } = this.#reader;
    const before = await readFacts(this.#place);
    this.#search = before?.search;
    this.#formerIdentities = formerIdentities(before, this.#identity);
    const named = resolve(this.#options.folder);
    this.#named = named === this.#folder ? before?.named : named;
    this.#learned = before?.settings === settings ? before.learned : undefined;
    const { files, leftOut, last, entries, kept } = await this.#records(before);
    if (this.#options.mapping !== undefined && !files.some(({ path }) => hasColumns(path)))
      (this.#options.log ?? noLog).warn({ folder: this.#folder }, mappingWithoutTables);
    const read = files.filter(({ known, problem }) => known === undefined && problem === undefined).length;
    const problems = problemsOf(files, entries);
    const records = entries.reduce((sum, entry) => sum + entry.records, kept);
    const present = new Set(entries.map(({ path }) => path));
    const removed = [...last.keys()].filter((path) => !present.has(path)).length;
    if (records === 0) {
      if (before === undefined || (before.records === 0 && before.empty !== true))
        throw noText(this.#folder, files.length, problems, leftOut, this.#options.include);
      const none = { files: 0, records: 0, embedded: 0, reused: 0 };
      const config = join(this.#place, fileNames.config);
      return { folder: this.#folder, config, ...none, read, removed, leftOut, problems };
    }
    await this.#writeConfig(before?.search);
    const counts = await this.#build(settings, before, { files: entries.length, records, kept });
    return {
      folder: this.#folder,
      config: join(this.#place, fileNames.config),
      files: entries.filter((entry) => entry.records > 0).length,
      read,
      removed,
      records,
      ...counts,
      leftOut,
      problems,
    };
  }

  /**
   * Brings the records file up to date with the folder. Begins again if another process has changed the records meanwhile. @throws IO if
   * one holds the lock of the change log, or changes them again and again
   */
  async #records(before: FolderFacts | undefined) {
    const path = join(this.#place, fileNames.records);
    for (let attempt = 1; attempt <= mostAttempts; attempt++) {
      await this.#mergeChanges();
      if (this.#options.forgotten && attempt === 1) await liftForgotten(this.#place);
      const stamp = await stampAt(path);
      const isSame = before?.settings === this.#reader.settings && !this.#options.forgotten;
      const last = isSame ? await readManifest(this.#place) : new Map<string, FileEntry>();
      const { files, leftOut } = await this.#reader.scan(last);
      const done = await this.#report.run('files', files.length, (onFraction) =>
        this.#readFiles(files, last, { before, stamp }, onFraction),
      );
      if (done !== undefined) return { files, leftOut, last, ...done };
    }
    const reason = 'other processes keep changing its records; try again';
    throw LorekeepError.about('IO', { file: path, reason });
  }

  /** Replaces the records file, unless someone else has changed the records. Returns whether it did. @throws as lockSoon() */
  async #commit(stamp: string | undefined, replace: () => Promise<void>): Promise<boolean> {
    const path = join(this.#place, fileNames.records);
    const { signal } = this.#options;
    const lock = await lockSoon(logOf(path), signal);
    try {
      if ((await stampAt(path)) !== stamp || (await hasChanges(path, signal))) return false;
      await replace();
      return true;
    } finally {
      await lock.release();
    }
  }

  /**
   * Returns the entries of this run, and the number of records that no file gave; undefined if the records were changed meanwhile. The
   * records file and the manifest are written only if they change. `before`: undefined if the place has no facts yet. `stamp`: of the
   * records file.
   */
  async #readFiles(
    files: readonly ScannedFile[],
    last: ReadonlyMap<string, FileEntry>,
    { before, stamp }: { before: FolderFacts | undefined; stamp: string | undefined },
    onFraction: (fraction: number) => void,
  ): Promise<{ entries: FileEntry[]; kept: number } | undefined> {
    const readable = files.filter(({ problem }) => problem === undefined);
    if (last.size > 0 && last.size === readable.length && readable.every(({ known }) => known !== undefined))
      return { entries: readable.map(({ known }) => known as FileEntry), kept: before?.kept ?? 0 };
    const path = join(this.#place, fileNames.records);
    const source = last.size === 0 ? undefined : await open(path);
    try {
      await using writer = await RecordsWriter.open(path, await readForgotten(this.#place));
      // A search says that the first run is under way. Without facts, the next run would take the files of a killed one for another
      // program's.
      if (before === undefined) await this.#writeFacts(this.#facts('', noRecords));
      const entries: FileEntry[] = [];
      for (const [at, file] of files.entries()) {
        this.#options.signal?.throwIfAborted();
        if (file.problem === undefined) entries.push(await this.#entryOf(file, writer, source));
        onFraction((at + 1) / files.length);
      }
      const kept = await this.#keepRecords(writer, path);
      if (kept === 0 && entries.every(({ records }) => records === 0)) {
        if (before === undefined) await rm(join(this.#place, fileNames.facts), { force: true });
        const isEmptied = before !== undefined && (before.records > 0 || before.empty === true);
        if (isEmptied && !(await this.#commit(stamp, () => this.#empty(this.#reader.settings))))
          return undefined;
        return { entries, kept };
      }
      if (!(await this.#commit(stamp, () => writer.finish()))) return undefined;
      await this.#replace(fileNames.manifest, manifestText((await stampAt(path)) as string, entries));
      return { entries, kept };
    } finally {
      await source?.close();
    }
  }

  /** Writes changes of the index into its records file, which this run replaces. */
  async #mergeChanges(): Promise<void> {
    const { models, signal, log } = this.#options;
    const path = join(this.#place, fileNames.records);
    if (!(await hasChanges(path, signal))) return;
    await (await lockSoon(logOf(path), signal)).release();
    await using kb = await openKnowledgeBase(join(this.#place, fileNames.config), { models, signal, log });
    await kb.merge({ signal });
  }

  /**
   * Keeps the records that update() added, and returns their number. A file that gives a record with the same id wins, and the log says
   * so.
   */
  async #keepRecords(writer: RecordsWriter, path: string): Promise<number> {
    let replaced = 0;
    let kept = 0;
    for await (const record of keptRecords(path)) {
      if (await writer.keep(record)) kept++;
      else replaced++;
    }
    if (replaced === 0) return kept;
    const text = 'records that were changed are replaced, because their files were read again';
    (this.#options.log ?? noLog).warn({ folder: this.#folder, records: replaced }, text);
    return kept;
  }

  async #entryOf(
    file: ScannedFile,
    writer: RecordsWriter,
    source: Awaited<ReturnType<typeof open>> | undefined,
  ): Promise<FileEntry> {
    const { known } = file;
    if (known === undefined || source === undefined) return this.#reader.read(file, writer);
    const begin = writer.begin();
    if (known.records === 0) return { ...known, begin, end: begin };
    await writer.copy(source, known.begin, known.end);
    return { ...known, begin, end: writer.end };
  }

  /** `last`: `search` as it was written before. */
  async #writeConfig(last: object | undefined): Promise<void> {
    const path = join(this.#place, fileNames.config);
    const present = await readRegular(path, maxConfigBytes).catch(() => '');
    const unfit = this.#unknownLanguages !== undefined;
    this.#search = writtenSearch({ unfit, learned: this.#learned?.limits });
    const own = ownSearch(searchOf(present), last);
    // A user's minimum for all hits counts alone.
    const legs = 'min_best' in own ? { min_by_leg: undefined } : {};
    const search = { ...this.#search, ...legs, ...own };
    const text = configText(this.#options.model, this.#options.mapping, search);
    if (present !== text) await this.#replace(fileNames.config, text);
  }

  /** Builds the index files, unless they were built from these records. */
  async #build(
    settings: string,
    before: FolderFacts | undefined,
    counts: RecordCounts,
  ): Promise<Pick<KnowledgeBaseBuild, 'embedded' | 'reused'>> {
    const records = (await stampAt(join(this.#place, fileNames.records))) as string;
    const facts = this.#facts(settings, counts);
    if (before?.built === records && before.settings === settings && (await this.#hasIndex())) {
      await this.#learnLimits(counts.records);
      await this.#writeFacts({ ...this.#facts(settings, counts), built: records });
      return { embedded: 0, reused: counts.records };
    }
    await this.#writeFacts(facts);
    const { models, signal, log, onProgress } = this.#options;
    const config = join(this.#place, fileNames.config);
    const written = new ProgressNotes((progress) => this.#writeFacts({ ...facts, progress }));
    const told: ProgressListener = (progress) => {
      onProgress?.(progress);
      written.take(progress);
    };
    try {
      const { embedded, reused } = await buildKnowledgeBase(config, {
        models,
        signal,
        log,
        onProgress: told,
      });
      await written.end();
      await this.#learnLimits(counts.records);
      await this.#writeFacts({ ...this.#facts(settings, counts), built: records });
      return { embedded, reused };
    } finally {
      await written.end();
    }
  }

  /** Learns how relevant nonsense seems in these records, unless that is known. */
  async #learnLimits(records: number): Promise<void> {
    if (isLearned(records, this.#learned?.records)) return;
    this.#learned = canLearn(records) ? { records, limits: await this.#limits() } : undefined;
    await this.#writeConfig(this.#search);
  }

  async #limits() {
    const { models, signal, log } = this.#options;
    await using kb = await openKnowledgeBase(join(this.#place, fileNames.config), { models, signal, log });
    return await learnLeastRelevance(kb, signal);
  }

  /** Makes the index of a folder that has no text any more: it states that it is empty, and has nothing to find. */
  async #empty(settings: string): Promise<void> {
    await this.#writeFacts({ ...this.#facts(settings, noRecords), empty: true });
    // The embeddings stay: the folder may have been unmounted. By the names of its documents it is known where it appears again.
    for (const name of [indexFiles.index_file, indexFiles.bm25_file, fileNames.records])
      await rm(join(this.#place, name), { force: true });
  }

  /** Whether the index files are there and whole. */
  async #hasIndex(): Promise<boolean> {
    for (const name of [indexFiles.index_file, indexFiles.bm25_file]) {
      const path = join(this.#place, name);
      if ((await stampAt(path)) === undefined) return false;
      const { refusal, sections } = await inspectFile(path, { signal: this.#options.signal });
      if (refusal !== undefined || sections.some(({ checksum }) => checksum === 'wrong')) return false;
    }
    return true;
  }

  /** Those of an index that is not built. */
  #facts(settings: string, counts: RecordCounts): FolderFacts {
    return {
      kind: 'lorekeep folder index',
      version: 1,
      folder: this.#folder,
      named: this.#named,
      identity: this.#identity,
      formerIdentities: this.#formerIdentities,
      settings,
      options: repeatedOptions(this.#options),
      search: this.#search,
      learned: this.#learned,
      unknownLanguages: this.#unknownLanguages,
      indexedAt: new Date().toISOString(),
      ...counts,
      built: null,
    };
  }

  #writeFacts(facts: FolderFacts): Promise<void> {
    return this.#replace(fileNames.facts, `${JSON.stringify(facts, null, 2)}\n`);
  }

  /** Writes a file of the index in place of an earlier one. The lock keeps other writers away. */
  #replace(name: keyof typeof ours, text: string): Promise<void> {
    return replaceFile(join(this.#place, name), text, { isOurs: ours[name] });
  }
}

/** How the files of an index are told from others with their names. */
const ours = {
  [fileNames.facts]: isJsonWith(({ kind }) => kind === 'lorekeep folder index'),
  [fileNames.config]: isIndexConfig,
  [fileNames.manifest]: isManifest,
} as const;
