import { existsSync, type Stats, statSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { LorekeepError, makeFolder } from '../../../lib/basics.js';
import { type FolderLock, lockFolder } from '../../base/files/folder-lock.js';
import { addressOf, type Environment, fileNames, partSources, type Source, shownAddress } from './address.js';
import { type Fetched, fetchFile, recordLost } from './fetch-file.js';
import { Partial } from './partial.js';
import { changeDownloads, type DownloadRecord, readDownloads } from './records.js';

export interface DownloadableVariant extends Source {
  size_bytes?: number | undefined;
}

export interface PullProgress {
  /** Name of the file in the folder. */
  file: string;
  done: number;
  total: number;
}

export interface PullOptions {
  signal: AbortSignal;
  onProgress?(progress: PullProgress): void;
  /** Called before anything is downloaded, once no other process downloads into the folder. Its errors end the download. */
  onTurn?(): Promise<void>;
  /** Told of waiting and of failed attempts. */
  onNote?(text: string): void;
  environment?: Environment;
  stallMs?: number;
  retryMs?: number;
}

interface PullFileOptions extends PullOptions {
  lock: FolderLock;
  missing: number | undefined;
  last: boolean;
}

/** Shortest pause that a note mentions, in ms. */
const longPauseMs = 5000;

/** As fileNames() makes them: others in the folder are not touched, whatever downloads.json says. */
const ownName = /^[0-9a-f]{8}-/;
const partEnd = /\.part(\.json(\.[\w-]+\.tmp)?)?$/;
const isPart = (entry: string) => partEnd.test(entry);
const withoutEnd = (entry: string) => entry.replace(partEnd, '');

/** Returns undefined if the path cannot be read. */
function found(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

/** Returns whether a file has been downloaded. An empty file does not count. @throws IO for anything but a regular file */
function isThere(path: string): boolean {
  const facts = found(path);
  if (facts === undefined || facts.isFile()) return (facts?.size ?? 0) > 0;
  const reason = `${basename(path)} exists and is not a file; move it away`;
  throw LorekeepError.about('IO', { file: path, reason });
}

/** Model files downloaded into one folder, and `downloads.json` with their facts. */
export class ModelDownloads {
  readonly folder: string;
  /** Bytes per second below which a server counts as broken; 0: any speed will do. Default: `models_download_min_speed`. */
  minSpeed = 1024;

  constructor(folder: string) {
    this.folder = folder;
  }

  /** Path of the first file of a variant, existing or not. */
  path(variant: Source): string {
    return join(this.folder, fileNames(variant)[0] as string);
  }

  /** Whether every file of a variant has been downloaded. */
  has(variant: Source): boolean {
    return fileNames(variant).every((name) => {
      const facts = found(join(this.folder, name));
      return facts?.isFile() === true && facts.size > 0;
    });
  }

  /**
   * Downloads the files of a variant that are not there, and returns the path of the first. Processes take turns.
   * @throws as fetchFile() and readDownloads(); IO if the folder cannot be used
   */
  async pull(variant: DownloadableVariant, options: PullOptions): Promise<string> {
    try {
      return await this.#pull(variant, options);
    } catch (error) {
      throw this.#folderError(error);
    }
  }

  /** Returns a system error without paths, for people and clients. */
  #folderError(error: unknown): unknown {
    const { code, syscall } = (error ?? {}) as NodeJS.ErrnoException;
    if (error instanceof LorekeepError || code === undefined || syscall === undefined) return error;
    const reason = `the folder of downloads cannot be used: ${code} (${syscall})`;
    return LorekeepError.about('IO', { file: this.folder, reason }, { cause: error });
  }

  async #pull(variant: DownloadableVariant, options: PullOptions): Promise<string> {
    const { signal, onNote = () => {} } = options;
    const names = fileNames(variant);
    const sources = partSources(variant);
    makeFolder(this.folder);
    const lock = await lockFolder(this.folder, signal, () =>
      onNote('another process downloads into the same folder; waiting for it'),
    );
    try {
      await this.#refuseDamaged(variant);
      await options.onTurn?.();
      let missing = variant.size_bytes;
      for (const [index, source] of sources.entries()) {
        const name = names[index] as string;
        const last = index === sources.length - 1;
        const pulled = await this.#pullFile(source, name, { ...options, lock, missing, last });
        const { size } = statSync(join(this.folder, name));
        // Of a split model, the parts that are there belong to the progress.
        if (!pulled && sources.length > 1) options.onProgress?.({ file: name, done: size, total: size });
        if (missing !== undefined) missing -= size;
      }
      return this.path(variant);
    } finally {
      await lock.release();
    }
  }

  /** Downloads a file; false: it is there. `missing`: bytes of this file and of the files after it. */
  async #pullFile(source: Source, name: string, options: PullFileOptions): Promise<boolean> {
    const { signal, lock, missing, last, environment = process.env, stallMs, retryMs } = options;
    const path = join(this.folder, name);
    const record = ({ sha256, bytes }: Fetched) =>
      changeDownloads(this.folder, (downloads) => {
        const url = shownAddress(addressOf(source, environment).url);
        downloads[name] = { url, sha256, size_bytes: bytes, at: new Date().toISOString() };
      });
    if (isThere(path)) {
      await recordLost({ path, signal, record });
      return false;
    }
    await fetchFile({
      address: addressOf(source, environment),
      path,
      sha256: source.sha256,
      sizeBytes: last ? missing : undefined,
      roomBytes: missing,
      signal,
      lock,
      record,
      minSpeed: this.minSpeed,
      onProgress: (done, total) => options.onProgress?.({ file: name, done, total }),
      onRetry: (reason, pauseMs) => {
        const when = pauseMs < longPauseMs ? '' : ` in ${Math.round(pauseMs / 1000)} s`;
        options.onNote?.(`${name}: ${reason}; trying again${when}`);
      },
      ...(stallMs !== undefined && { stallMs }),
      ...(retryMs !== undefined && { retryMs }),
    });
    return true;
  }

  /** Returns the entries of downloads.json for the files of a variant. @throws as readDownloads() */
  async records(variant: Source): Promise<(DownloadRecord | undefined)[]> {
    const recorded = await readDownloads(this.folder);
    return fileNames(variant).map((name) => (Object.hasOwn(recorded, name) ? recorded[name] : undefined));
  }

  /**
   * Names a file of a variant that has another length than its download or the catalog says, and both lengths; undefined if
   * none has. @throws as readDownloads()
   */
  async damage(variant: DownloadableVariant): Promise<{ name: string; reason: string } | undefined> {
    const names = fileNames(variant);
    const records = await this.records(variant);
    let rest = variant.size_bytes;
    for (const [index, name] of names.entries()) {
      const facts = found(join(this.folder, name));
      const bytes = facts?.isFile() ? facts.size : 0;
      const stated = index === names.length - 1 ? rest : undefined;
      const wrong = [records[index]?.size_bytes, stated].find((one) => one !== undefined && one !== bytes);
      if (bytes > 0 && wrong !== undefined) return { name, reason: `it has ${bytes} bytes, not ${wrong}` };
      rest = rest === undefined || bytes === 0 ? undefined : rest - bytes;
    }
    return undefined;
  }

  /** @throws CORRUPT */
  async #refuseDamaged(variant: DownloadableVariant): Promise<void> {
    const damage = await this.damage(variant);
    if (damage === undefined) return;
    const reason = `${damage.name} is there and damaged: ${damage.reason}; remove it first (models remove)`;
    throw LorekeepError.about('CORRUPT', { file: join(this.folder, damage.name), reason });
  }

  /** Removes the files of a variant. Returns the bytes that are free now. */
  remove(variant: Source, signal: AbortSignal): Promise<number> {
    return this.#removeFiles(fileNames(variant), signal);
  }

  /** Removes finished and partial downloads that belong to none of the variants. Returns their names. */
  async prune(kept: readonly Source[], signal: AbortSignal): Promise<string[]> {
    const names = new Set(kept.flatMap((variant) => fileNames(variant)));
    const recorded = await readDownloads(this.folder);
    const removed: string[] = [];
    for (const entry of await this.#entries()) {
      if (names.has(withoutEnd(entry))) continue;
      // A file whose download was killed before it was recorded is known by the state of its part.
      const own =
        isPart(entry) ||
        Object.hasOwn(recorded, entry) ||
        (await new Partial(join(this.folder, entry)).isComplete());
      if (own) removed.push(entry);
    }
    if (removed.length > 0) await this.#removeFiles(removed, signal);
    return removed;
  }

  /** Returns the bytes of a variant's files so far, of complete ones and of parts. */
  bytesSoFar(variant: Source): number {
    let bytes = 0;
    for (const name of fileNames(variant)) {
      const path = join(this.folder, name);
      bytes += found(path)?.size ?? found(`${path}.part`)?.size ?? 0;
    }
    return bytes;
  }

  /** Returns the bytes of all downloads, finished or not, except a variant's. */
  async bytesBeside(variant: Source): Promise<number> {
    const names = new Set(fileNames(variant));
    let bytes = 0;
    for (const entry of await this.#entries())
      if (!names.has(withoutEnd(entry)))
        bytes += (await stat(join(this.folder, entry)).catch(() => undefined))?.size ?? 0;
    return bytes;
  }

  /** Names of the regular files that may be downloads or parts of them. */
  async #entries(): Promise<string[]> {
    const found = await readdir(this.folder, { withFileTypes: true }).catch(() => []);
    return found.filter((entry) => entry.isFile() && ownName.test(entry.name)).map(({ name }) => name);
  }

  async #removeFiles(names: readonly string[], signal: AbortSignal): Promise<number> {
    if (!existsSync(this.folder)) return 0;
    const lock = await lockFolder(this.folder, signal);
    try {
      let bytes = 0;
      for (const name of names) {
        if (basename(name) !== name) throw new LorekeepError('INVALID_ARGUMENT', `${name}: not a file name`);
        for (const path of [name, `${name}.part`, `${name}.part.json`].map((one) => join(this.folder, one))) {
          bytes += (await stat(path).catch(() => undefined))?.size ?? 0;
          await rm(path, { force: true });
        }
      }
      await changeDownloads(this.folder, (downloads) => {
        for (const name of names) delete downloads[name];
      });
      return bytes;
    } finally {
      await lock.release();
    }
  }
}
