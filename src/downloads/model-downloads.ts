import { existsSync, statSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { LorekeepError } from '../../lib/errors.js';
import { makeFolder } from '../../lib/make-folder.js';
import { addressOf, fileNames, partSources, type Source, shownAddress } from './address.js';
import { fetchFile } from './fetch-file.js';
import { lockFolder } from './folder-lock.js';
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
  /** Called before anything is downloaded, once no other process downloads into the folder. What it throws ends the download. */
  onTurn?(): Promise<void>;
  /** Told of waiting and of failed attempts. */
  onNote?(text: string): void;
  environment?: NodeJS.ProcessEnv;
  stallMs?: number;
  retryMs?: number;
}

/** Model files downloaded into one folder, and `downloads.json` with what they are. */
export class ModelDownloads {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  /** Path of the first file of a variant, existing or not. */
  path(variant: Source): string {
    return join(this.folder, fileNames(variant)[0] as string);
  }

  /** Whether every file of a variant has been downloaded. */
  has(variant: Source): boolean {
    return fileNames(variant).every((name) => existsSync(join(this.folder, name)));
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

  /** Returns what people and clients may read of a system error: it has no path. */
  #folderError(error: unknown): unknown {
    const { code, syscall } = (error ?? {}) as NodeJS.ErrnoException;
    if (error instanceof LorekeepError || code === undefined || syscall === undefined) return error;
    const reason = `the folder of downloads cannot be used: ${code} (${syscall})`;
    return LorekeepError.about('IO', { file: this.folder, reason }, { cause: error });
  }

  async #pull(variant: DownloadableVariant, options: PullOptions): Promise<string> {
    const { signal, onNote = () => {} } = options;
    const environment = options.environment ?? process.env;
    const names = fileNames(variant);
    const sources = partSources(variant);
    makeFolder(this.folder);
    const lock = await lockFolder(this.folder, signal, () =>
      onNote('another process downloads into the same folder; waiting for it'),
    );
    try {
      await readDownloads(this.folder);
      await options.onTurn?.();
      let missing = variant.size_bytes;
      for (const [index, source] of sources.entries()) {
        const name = names[index] as string;
        const path = join(this.folder, name);
        const present = statSync(path, { throwIfNoEntry: false })?.size;
        if (present !== undefined) {
          if (missing !== undefined) missing -= present;
          continue;
        }
        const address = addressOf(source, environment);
        const fetched = await fetchFile({
          address,
          path,
          sha256: source.sha256,
          sizeBytes: index === sources.length - 1 ? missing : undefined,
          roomBytes: missing,
          signal,
          lock,
          onProgress: (done, total) => options.onProgress?.({ file: name, done, total }),
          onRetry: (reason) => onNote(`${name}: ${reason}; trying again`),
          ...(options.stallMs !== undefined && { stallMs: options.stallMs }),
          ...(options.retryMs !== undefined && { retryMs: options.retryMs }),
        });
        const record: DownloadRecord = {
          url: shownAddress(address.url),
          sha256: fetched.sha256,
          size_bytes: fetched.bytes,
          at: new Date().toISOString(),
        };
        await changeDownloads(this.folder, (downloads) => {
          downloads[name] = record;
        });
        if (missing !== undefined) missing -= fetched.bytes;
      }
      return this.path(variant);
    } finally {
      await lock.release();
    }
  }

  /** Removes the files of a variant. Returns the bytes that are free now. */
  remove(variant: Source, signal: AbortSignal): Promise<number> {
    return this.#removeFiles(fileNames(variant), signal);
  }

  /** Removes finished and partial downloads that belong to none of the variants. Returns their names. */
  async prune(kept: readonly Source[], signal: AbortSignal): Promise<string[]> {
    const names = new Set(kept.flatMap((variant) => fileNames(variant)));
    const records = await readDownloads(this.folder);
    const entries = await readdir(this.folder).catch(() => []);
    const removed = entries.filter((entry) => {
      const name = entry.replace(/\.part(\.json)?$/, '');
      const own = Object.hasOwn(records, name) || (name !== entry && /^[0-9a-f]{8}-/.test(name));
      return own && !names.has(name);
    });
    if (removed.length > 0) await this.#removeFiles(removed, signal);
    return removed;
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
