import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, readdir, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { makeFolder, moveOver, removeStrays, temporaryName } from '../../lib/basics.js';
import {
  type EmbeddingRows,
  type FileOwner,
  findEmbeddings,
  type ItemError,
  removeStrayFiles,
  uniteEmbeddings,
} from '../../lib/internal.js';
import { mapInSlices } from '../base/waiting/next-slice.js';
import { ownerOf } from './destinations.js';
import { indexFiles, readFacts } from './folder/place.js';
import { embeddingsKey, factsOf, type KnowledgeModel } from './model.js';
import type { Source } from './resolve.js';

type KeptSource = Pick<Source, 'path' | 'pathOf' | 'files' | 'model' | 'readOnly'>;

interface Embedded {
  vectors: Float32Array;
  errors: readonly ItemError[];
}

/** The folder beside the embeddings file of an index. Its name is hidden, so that indexing leaves it out. */
export const keptEmbeddingsIn = (place: string): string => join(place, '.embeddings');
const ending = '.embeddings';

export const defaultKeepDays = 30;
const dayMs = 86_400_000;

/** Returns the name of the file that a temporary file is written for; undefined for another name. */
const targetOf = (name: string) => /^(.+)\.\d+-[\da-f-]+\.tmp$/.exec(name)?.[1];

/** Files that are united once there are more. */
const mostFiles = 8;
/** Kept embeddings take at most this many times the bytes of the embeddings file, and at least `leastBytes`. */
const mostOfFile = 4;
const leastBytes = 256 * 2 ** 20;

/**
 * The embeddings of texts that an index has no more, because their files were deleted, edited or unmounted: for at least so many days
 * after they were put there, and at most for twice as long. Only indexes of folders have them.
 */
export class KeptEmbeddings {
  readonly #folder: string;
  readonly #embeddings: string;
  readonly #model: KnowledgeModel;
  readonly #periodMs: number;
  readonly #owner: FileOwner;

  private constructor(folder: string, embeddings: string, source: KeptSource, days: number) {
    this.#folder = folder;
    this.#embeddings = embeddings;
    this.#model = source.model;
    this.#periodMs = days * dayMs;
    const { pathOf, files } = source;
    this.#owner = ownerOf({ path: pathOf(source.path), files: { ...files, records: pathOf(files.records) } });
  }

  /** Those of a knowledge base; undefined unless it is the index of a folder that keeps embeddings and may be written. One that keeps none any more loses them. */
  static async of(source: KeptSource): Promise<KeptEmbeddings | undefined> {
    const { path, pathOf, files, readOnly } = source;
    if (files.embeddings === undefined || readOnly) return undefined;
    const place = dirname(pathOf(path));
    const facts = await readFacts(place);
    if (facts === undefined) return undefined;
    const days = facts.options?.keepEmbeddings ?? defaultKeepDays;
    if (days === 0) {
      await rm(keptEmbeddingsIn(place), { recursive: true, force: true });
      return undefined;
    }
    return new KeptEmbeddings(keptEmbeddingsIn(place), pathOf(files.embeddings), source, days);
  }

  /** The embeddings files to look in beside the index's own, the newest first. Removes those whose time is over. */
  async files(): Promise<string[]> {
    const now = Date.now();
    const names = await readdir(this.#folder).catch((): string[] => []);
    const found = names.flatMap((name) => {
      const begin = name.endsWith(ending) ? Number.parseInt(name, 10) : Number.NaN;
      return Number.isNaN(begin) ? [] : [{ path: join(this.#folder, name), begin }];
    });
    const isOver = ({ begin }: { begin: number }) => begin + 2 * this.#periodMs <= now;
    await Promise.all(found.filter(isOver).map(({ path }) => rm(path, { force: true })));
    return found
      .filter((file) => !isOver(file))
      .sort((a, b) => b.begin - a.begin)
      .map(({ path }) => path);
  }

  /** Looks up texts in the index's own embeddings and in the kept ones: positions, and a row for each. */
  async find(texts: readonly string[], signal: AbortSignal | undefined) {
    return findEmbeddings(texts, [this.#embeddings, ...(await this.files())], this.#kind(), { signal });
  }

  /** Keeps embeddings that were made. @throws IO */
  async keep(texts: readonly string[], vectors: Float32Array): Promise<void> {
    await this.#write((path) =>
      uniteEmbeddings(path, { texts, vectors }, this.#kind(), { owner: this.#owner }),
    );
  }

  /** Keeps the embeddings of the index's own file whose texts are not among `rows`, before that file is replaced. @throws IO */
  async keepOthers(rows: EmbeddingRows): Promise<void> {
    await this.#write((path) => rows.saveOthers(path, [this.#embeddings], { owner: this.#owner }));
  }

  /** Keeps all embeddings of the index's own file, before that file is removed. @throws IO */
  async keepAll(): Promise<void> {
    await this.#write((path) =>
      uniteEmbeddings(path, { files: [this.#embeddings] }, this.#kind(), { owner: this.#owner }),
    );
  }

  /** Removes the embeddings of texts, and files that killed writers left. @throws IO */
  async forget(texts: readonly string[]): Promise<void> {
    await this.#removeStrays();
    for (const path of await this.files()) await this.#replace(path, [path], texts);
  }

  /** Begin of the period that it is now, in ms since 1970. The files of a period have it in their names. */
  #period(): number {
    return Math.floor(Date.now() / this.#periodMs) * this.#periodMs;
  }

  #kind() {
    return { dimension: factsOf(this.#model).dimension, key: embeddingsKey(this.#model) };
  }

  async #write(write: (path: string) => Promise<number>): Promise<void> {
    makeFolder(this.#folder, 0o700);
    await write(join(this.#folder, `${this.#period()}-${randomUUID()}${ending}`));
    const files = await this.files();
    if (files.length > mostFiles) await this.#unite(files);
    await this.#limitBytes();
  }

  /** Makes one file of those of each period. */
  async #unite(files: readonly string[]): Promise<void> {
    const periodOf = (path: string) => Number.parseInt(basename(path), 10);
    for (const period of new Set(files.map(periodOf))) {
      const some = files.filter((path) => periodOf(path) === period);
      if (some.length < 2) continue;
      await this.#replace(join(this.#folder, `${period}-${randomUUID()}${ending}`), some, []);
      for (const path of some) await rm(path, { force: true });
    }
  }

  async #replace(path: string, files: readonly string[], dropped: readonly string[]): Promise<void> {
    const next = temporaryName(path);
    const rows = await uniteEmbeddings(next, { files, dropped }, this.#kind(), { owner: this.#owner });
    if (rows > 0) await moveOver(next, path);
    else await rm(path, { force: true });
  }

  async #removeStrays(): Promise<void> {
    for (const name of await readdir(this.#folder).catch((): string[] => [])) {
      // A temporary file is written by way of another one.
      for (let target = targetOf(name); target !== undefined; target = targetOf(target)) {
        await removeStrays(join(this.#folder, target));
        await removeStrayFiles(join(this.#folder, target));
      }
    }
  }

  async #limitBytes(): Promise<void> {
    const sizeOf = async (path: string) => (await stat(path).catch(() => undefined))?.size ?? 0;
    let left = Math.max(leastBytes, mostOfFile * (await sizeOf(this.#embeddings)));
    for (const path of await this.files()) {
      left -= await sizeOf(path);
      if (left < 0) await rm(path, { force: true });
    }
  }
}

/** Copies the embeddings that the index of one folder has and keeps to the index of another one, beside those it has. @throws system errors */
export async function copyEmbeddings(from: string, to: string): Promise<void> {
  const copy = async (source: string, target: string) => {
    const next = temporaryName(target);
    await copyFile(source, next);
    await moveOver(next, target);
  };
  const [own, present] = [from, to].map((place) => join(place, indexFiles.embeddings_file)) as [
    string,
    string,
  ];
  makeFolder(keptEmbeddingsIn(to), 0o700);
  const kept = (name: string) => join(keptEmbeddingsIn(to), name);
  if (existsSync(own))
    await copy(own, existsSync(present) ? kept(`${Date.now()}-${randomUUID()}${ending}`) : present);
  for (const name of await readdir(keptEmbeddingsIn(from)).catch((): string[] => []))
    if (name.endsWith(ending)) await copy(join(keptEmbeddingsIn(from), name), kept(name));
}

/**
 * Embeds texts with `embed`, each distinct one once, except those whose embeddings an index has or keeps; keeps the new ones.
 * @returns a row per text; errors by position. @throws errors of `embed`; CANCELLED
 */
export async function embedOnce(
  texts: readonly string[],
  source: KeptSource,
  embed: (texts: readonly string[]) => Promise<Embedded>,
  { signal, warn }: { signal: AbortSignal | undefined; warn(error: unknown): void },
): Promise<Embedded> {
  const kept = texts.length === 0 ? undefined : await KeptEmbeddings.of(source);
  if (kept === undefined) return embed(texts);
  const { dimension } = factsOf(source.model);
  const rowOf = (rows: Float32Array, index: number) =>
    rows.subarray(index * dimension, (index + 1) * dimension);
  const known = new Map<string, Float32Array>();
  const distinct = [...new Set(texts)];
  const found = await kept.find(distinct, signal);
  for (const [row, index] of found.texts.entries())
    known.set(distinct[index] as string, rowOf(found.vectors, row));
  const missing = distinct.filter((text) => !known.has(text));
  const failed = new Map<string, ItemError>();
  if (missing.length > 0) {
    const made = await embed(missing);
    for (const error of made.errors) failed.set(missing[error.index] as string, error);
    for (const [row, text] of missing.entries()) known.set(text, rowOf(made.vectors, row));
    if (failed.size === 0) await kept.keep(missing, made.vectors).catch(warn);
  }
  const vectors = new Float32Array(texts.length * dimension);
  const errors = await mapInSlices(texts, (text, index) => {
    vectors.set(known.get(text) as Float32Array, index * dimension);
    const error = failed.get(text);
    return error && { ...error, index };
  });
  return { vectors, errors: errors.filter((error) => error !== undefined) };
}
