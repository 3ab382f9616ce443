import { lstat, open, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { isJsonWith, makeFolder, readRegular, replaceFile, systemReason } from '../../../lib/basics.js';
import { EmbeddingModel, inspectFile, LorekeepError } from '../../../lib/internal.js';
import { lockFolder } from '../../base/files/folder-lock.js';
import type { Fits } from '../../documents/chunks.js';
import { hasColumns } from '../../documents/formats/formats.js';
import type { TableMapping } from '../../documents/tables/mapping.js';
import { buildKnowledgeBase, type KnowledgeBaseBuild } from '../build.js';
import type { TextEmbedder } from '../embedder.js';
import { noLog } from '../log.js';
import { factsOf, holdModel, type KnowledgeModel, modelResolver, withModel } from '../model.js';
import { openKnowledgeBase } from '../open.js';
import { noProgress, PhaseReport, type ProgressListener } from '../progress.js';
import { bestSearch, statedTwice, withSearch } from '../search-config.js';
import { liftForgotten, readForgotten } from './forgotten.js';
import { hasChanges, keptRecords } from './kept-records.js';
import type { LeftOut } from './left-out.js';
import { type FileEntry, isManifest, manifestText, readManifest, stampAt } from './manifest.js';
import {
  checkIndexOptions,
  chunking,
  defaultModel,
  documentFields,
  type IndexFolderOptions,
  ownFields,
  repeatedOptions,
} from './options.js';
import { existingFolder, type FolderFacts, fileNames, indexFiles, placeOf, readFacts } from './place.js';
import { ProgressNotes } from './progress-notes.js';
import { ReadingThread } from './reading/reading-thread.js';
import { RecordsWriter } from './records-writer.js';
import { readRecords, type ScannedFile, scan } from './scan.js';

export type { LeftOut } from './left-out.js';

/** A file that was left out, as a whole or in part, and why. */
export interface FileProblem {
  /** Relative to the folder. */
  path: string;
  reason: string;
}

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
  records: number;
  /** Texts that were embedded, and records whose embedding was there. */
  embedded: number;
  reused: number;
  /** Files whose kind is not read, by ending; the most frequent first. `include` reads them as text. */
  leftOut: LeftOut[];
  problems: FileProblem[];
}

const mappingWithoutTables = 'mapping: it has no effect: there is no CSV or JSON Lines file';

/** Increased when the same file gives other chunks. */
const chunkerVersion = 5;

/**
 * Makes or updates the knowledge base of a folder. Only new and changed files are read, and only new texts are embedded.
 * @throws LorekeepError: NOT_FOUND, INVALID_ARGUMENT (options; a folder without text; files in `output` that are not of an index),
 * IO, CANCELLED; as buildKnowledgeBase()
 */
export async function indexFolder(options: IndexFolderOptions): Promise<FolderIndex> {
  checkIndexOptions(options);
  const folder = await existingFolder(options.folder);
  const name = options.model ?? defaultModel;
  const model = await modelResolver(options.models)(name);
  if (model === undefined) {
    const reason = `there is no embedding model ${JSON.stringify(name)}`;
    throw LorekeepError.about('INVALID_ARGUMENT', { field: 'model', reason });
  }
  const place = options.output === undefined ? placeOf(folder) : resolve(options.output);
  await preparePlace(place, options.output === undefined ? ownUserOnly : undefined);
  const signal = options.signal ?? new AbortController().signal;
  const lock = await lockFolder(place, signal, () =>
    (options.log ?? noLog).warn({ folder: place }, 'another process is indexing this folder; waiting for it'),
  );
  const letGo = holdModel(model);
  try {
    await using indexing = new FolderIndexing({ ...options, model: name }, folder, place, model);
    return await indexing.run();
  } catch (error) {
    if (signal.aborted && !(error instanceof LorekeepError))
      throw new LorekeepError('CANCELLED', 'indexing was cancelled', {}, { cause: signal.reason });
    throw error;
  } finally {
    letGo();
    await lock.release();
  }
}

/** The records of a default place hold the texts of files that only this user may be able to read. */
const ownUserOnly = 0o700;

/** Refuses a folder with files of the same names that are not of an index. */
async function preparePlace(place: string, mode: number | undefined): Promise<void> {
  try {
    makeFolder(place, mode);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const isFile = code === 'EEXIST' || code === 'ENOTDIR';
    const reason = isFile
      ? 'is a file, or in one; a folder is expected'
      : `the folder cannot be made: ${systemReason(cause)}; choose another one by \`output\` (--output) or LOREKEEP_STATE`;
    throw LorekeepError.about('IO', { file: place, reason }, { cause });
  }
  if ((await readFacts(place)) !== undefined) return;
  for (const name of [...Object.values(fileNames), ...Object.values(indexFiles)]) {
    const file = join(place, name);
    // A link counts, wherever it leads.
    if ((await lstat(file).catch(() => undefined)) === undefined) continue;
    const reason =
      'exists and was not made by indexing a folder; choose another output folder, or move it away';
    throw LorekeepError.about('INVALID_ARGUMENT', { field: 'output', file, reason });
  }
}

class FolderIndexing implements AsyncDisposable {
  readonly #options: IndexFolderOptions & { model: string };
  readonly #folder: string;
  readonly #place: string;
  readonly #model: KnowledgeModel;
  readonly #report: PhaseReport;
  readonly #thread: ReadingThread;
  /** Tokens of a document without text. */
  #prefixTokens: number | undefined;

  constructor(
    options: IndexFolderOptions & { model: string },
    folder: string,
    place: string,
    model: KnowledgeModel,
  ) {
    this.#options = options;
    this.#folder = folder;
    this.#place = place;
    this.#model = model;
    this.#thread = new ReadingThread(options.signal);
    this.#report = new PhaseReport(options.onProgress ?? noProgress);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#thread.close();
  }

  async run(): Promise<FolderIndex> {
    await this.#mergeChanges();
    if (this.#options.forgotten) await liftForgotten(this.#place);
    const settings = this.#settings();
    const before = await readFacts(this.#place);
    const last =
      before?.settings === settings && !this.#options.forgotten
        ? await readManifest(this.#place)
        : new Map<string, FileEntry>();
    const { files, leftOut } = await scan(this.#thread, this.#folder, this.#options, last);
    if (this.#options.mapping !== undefined && !files.some(({ path }) => hasColumns(path)))
      (this.#options.log ?? noLog).warn({ folder: this.#folder }, mappingWithoutTables);
    const read = files.filter(({ known, problem }) => known === undefined && problem === undefined).length;
    const entries = await this.#report.run('files', files.length, (onFraction) =>
      this.#readFiles(files, last, before === undefined, onFraction),
    );
    const problems = problemsOf(files, entries);
    const records = entries.reduce((sum, entry) => sum + entry.records, 0);
    const present = new Set(entries.map(({ path }) => path));
    const removed = [...last.keys()].filter((path) => !present.has(path)).length;
    if (records === 0) {
      if (before === undefined || (before.records === 0 && before.empty !== true))
        throw noText(this.#folder, files.length, problems, leftOut, this.#options.include);
      await this.#empty(settings);
      const none = { files: 0, records: 0, embedded: 0, reused: 0 };
      const config = join(this.#place, fileNames.config);
      return { folder: this.#folder, config, ...none, read, removed, leftOut, problems };
    }
    await this.#writeConfig();
    const counts = await this.#build(settings, before, { files: entries.length, records });
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

  /** Everything besides the files that the records depend on. */
  #settings(): string {
    const { mapping, chunkSize = chunking.size } = this.#options;
    const { fingerprint, contextSize } = factsOf(this.#model);
    const { documentPrefix = '' } = this.#model;
    return JSON.stringify([
      chunkerVersion,
      chunkSize,
      chunking.overlap,
      mapping ?? {},
      fingerprint,
      contextSize,
      documentPrefix,
    ]);
  }

  /**
   * Returns the entries of this run. The records file and the manifest are written only if they change. `isFirst`: the place
   * has no facts yet.
   */
  async #readFiles(
    files: readonly ScannedFile[],
    last: ReadonlyMap<string, FileEntry>,
    isFirst: boolean,
    onFraction: (fraction: number) => void,
  ): Promise<FileEntry[]> {
    const readable = files.filter(({ problem }) => problem === undefined);
    if (last.size === readable.length && readable.every(({ known }) => known !== undefined))
      return readable.map(({ known }) => known as FileEntry);
    const path = join(this.#place, fileNames.records);
    const source = last.size === 0 ? undefined : await open(path);
    try {
      await using writer = await RecordsWriter.open(path, await readForgotten(this.#place));
      const entries: FileEntry[] = [];
      for (const [at, file] of files.entries()) {
        this.#options.signal?.throwIfAborted();
        if (file.problem === undefined) entries.push(await this.#entryOf(file, writer, source));
        onFraction((at + 1) / files.length);
      }
      if (entries.every(({ records }) => records === 0)) return entries;
      await this.#keepRecords(writer, path);
      // Without facts, the next run would take the files of a killed one for another program's.
      if (isFirst) await this.#writeFacts(this.#facts('', { files: 0, records: 0 }));
      await writer.finish();
      await this.#replace(fileNames.manifest, manifestText((await stampAt(path)) as string, entries));
      return entries;
    } finally {
      await source?.close();
    }
  }

  /** Writes changes of the index into its records file, which this run replaces. */
  async #mergeChanges(): Promise<void> {
    const { models, signal, log } = this.#options;
    if (!(await hasChanges(join(this.#place, fileNames.records), signal))) return;
    await using kb = await openKnowledgeBase(join(this.#place, fileNames.config), { models, signal, log });
    await kb.merge({ signal });
  }

  /** Keeps the records that update() added. A file that gives a record with the same id wins, and the log says so. */
  async #keepRecords(writer: RecordsWriter, path: string): Promise<void> {
    let replaced = 0;
    for await (const record of keptRecords(path)) if (!(await writer.keep(record))) replaced++;
    if (replaced === 0) return;
    const text = 'records that were changed are replaced, because their files were read again';
    (this.#options.log ?? noLog).warn({ folder: this.#folder, records: replaced }, text);
  }

  async #entryOf(
    file: ScannedFile,
    writer: RecordsWriter,
    source: Awaited<ReturnType<typeof open>> | undefined,
  ): Promise<FileEntry> {
    const { known } = file;
    if (known === undefined || source === undefined) {
      const { chunkSize = chunking.size, signal } = this.#options;
      const fits = (text: string) => this.#fits(text);
      const options = { size: chunkSize, overlap: chunking.overlap };
      const { mapping } = this.#options;
      const reading = {
        folder: this.#folder,
        thread: this.#thread,
        mapping,
        chunking: options,
        fits,
        signal,
      };
      return readRecords(file, writer, reading);
    }
    const begin = writer.begin();
    if (known.records === 0) return { ...known, begin, end: begin };
    await writer.copy(source, known.begin, known.end);
    return { ...known, begin, end: writer.end };
  }

  /** A token has at least one byte, so a text with few bytes fits. */
  #fits(text: string): ReturnType<Fits> {
    const { documentPrefix = '' } = this.#model;
    const whole = documentPrefix + text;
    const special = 3;
    const fits = async (model: TextEmbedder) => {
      // An embedder of the caller's own sees whole texts, and counts no tokens.
      if (!(model instanceof EmbeddingModel)) return 'fits';
      const { contextSize } = model.facts;
      // Every vocabulary has tokens for these.
      if (Buffer.byteLength(whole) + special <= contextSize && /[a-z0-9]/i.test(text)) return 'fits';
      const tokens = await model.countTokens(whole);
      this.#prefixTokens ??= await model.countTokens(documentPrefix);
      if (tokens <= this.#prefixTokens) return 'no tokens';
      return tokens <= contextSize ? 'fits' : 'too long';
    };
    return withModel(this.#model, fits, this.#options.signal);
  }

  async #writeConfig(): Promise<void> {
    const path = join(this.#place, fileNames.config);
    const present = await readRegular(path, maxConfigBytes).catch(() => '');
    const text = configText(this.#options.model, this.#options.mapping, searchOf(present));
    if (present !== text) await this.#replace(fileNames.config, text);
  }

  /** Builds the index files, unless they were built from these records. */
  async #build(
    settings: string,
    before: FolderFacts | undefined,
    counts: { files: number; records: number },
  ): Promise<Pick<KnowledgeBaseBuild, 'embedded' | 'reused'>> {
    const records = (await stampAt(join(this.#place, fileNames.records))) as string;
    const facts = this.#facts(settings, counts);
    if (before?.built === records && before.settings === settings && (await this.#hasIndex())) {
      await this.#writeFacts({ ...facts, built: records });
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
      await this.#writeFacts({ ...facts, built: records });
      return { embedded, reused };
    } finally {
      await written.end();
    }
  }

  /** Makes the index of a folder that has no text any more: it states that it is empty, and has nothing to find. */
  async #empty(settings: string): Promise<void> {
    await this.#writeFacts({ ...this.#facts(settings, { files: 0, records: 0 }), empty: true });
    const { records, manifest } = fileNames;
    for (const name of [...Object.values(indexFiles), manifest, records])
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
  #facts(settings: string, counts: { files: number; records: number }): FolderFacts {
    return {
      kind: 'lorekeep folder index',
      version: 1,
      folder: this.#folder,
      settings,
      options: repeatedOptions(this.#options),
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
  [fileNames.config]: isJsonWith(({ records_file }) => records_file === fileNames.records),
  [fileNames.manifest]: isManifest,
} as const;

/** More than a config with long lists of synonyms and stop words takes. */
const maxConfigBytes = 16 * 1024 * 1024;

/** The defaults of searches that the user has set stay. */
function searchOf(config: string): object {
  if (!ours[fileNames.config](config)) return {};
  const present = JSON.parse(config);
  const [twice] = statedTwice(present);
  if (twice === undefined) return withSearch(present).search ?? {};
  const { path, message: reason } = twice;
  throw LorekeepError.about('INVALID_ARGUMENT', { field: path.join('.'), reason });
}

function configText(model: string, mapping: TableMapping | undefined, kept: object): string {
  const types = { path: 'string', title: 'string', heading: 'string', page: 'int', mtime: 'int' } as const;
  const own = ownFields.map((name) => ({
    name,
    type: types[name],
    ...(name === 'mtime' && { format: 'date-time' }),
    optional: true,
  }));
  const mapped = Object.entries({ ...documentFields, ...mapping?.fields }).map(([name, type]) => ({
    name,
    type,
    optional: true,
  }));
  const config = {
    version: 1,
    embedding_model: model,
    records_file: fileNames.records,
    ...indexFiles,
    bm25_tokenizer: 'enhanced',
    search: { ...bestSearch, ...kept },
    fields: [...own, ...mapped],
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}

function problemsOf(files: readonly ScannedFile[], entries: readonly FileEntry[]): FileProblem[] {
  const unread = files.filter(({ problem }) => problem !== undefined);
  return [
    ...unread.map(({ path, problem }) => ({ path, reason: problem as string })),
    ...entries.flatMap(({ path, problems = [] }) => problems.map((reason) => ({ path, reason }))),
  ].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}

function noText(
  folder: string,
  files: number,
  problems: readonly FileProblem[],
  leftOut: readonly LeftOut[],
  include: readonly string[] = [],
): LorekeepError {
  const [first] = problems;
  const why = first === undefined ? '' : `; ${first.path}: ${first.reason}`;
  const reason =
    files > 0
      ? `no text to index in ${files === 1 ? 'its only file' : `any of its ${files} files`}${why}`
      : include.length > 0
        ? `no file matches ${include.join(', ')}`
        : `no file of a kind that is read${others(leftOut)}`;
  return LorekeepError.about('INVALID_ARGUMENT', { file: folder, reason, problems });
}

/** Kinds that are named. */
const maxKinds = 8;

function others(leftOut: readonly LeftOut[]): string {
  if (leftOut.length === 0) return '';
  const kinds = leftOut
    .slice(0, maxKinds)
    .map(({ ending, files }) => `${files} ${ending || 'without ending'}`);
  const more = leftOut.length > maxKinds ? ', and others' : '';
  return `; other kinds: ${kinds.join(', ')}${more}; name text files with other endings by \`include\` (--include)`;
}
