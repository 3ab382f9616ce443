import { constants, existsSync, readFileSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { cpus } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { packageFolder } from '../boundary/addon-files.js';
import type { NativeKnownSettings } from '../boundary/native.js';
import { checkOurs, replaceFile } from '../os/own-file.js';
import { readRegular } from '../os/regular-file.js';
import { userHome } from '../os/user-home.js';

/** The fastest measured settings of a model on one machine, and the conditions of the measurement. */
export interface ComputeSettings extends NativeKnownSettings {
  /** The model's display name. */
  name: string;
  /** Path of the model file. */
  path: string;
  /** Processor name, with LOREKEEP_KERNELS if it is set; `version` is this package's version. */
  processor: string;
  version: string;
}

/** Models whose loads measure. */
export type MeasuredKind = 'embedding' | 'generation';

/** The settings that a load reports. */
type Measured = Omit<ComputeSettings, 'processor' | 'version'>;

/** An entry of the file. Earlier versions wrote neither candidates nor path. */
type Stored = Omit<ComputeSettings, 'candidates' | 'path'> & {
  candidates?: readonly string[];
  path?: string;
};

/** Machines may share a home folder; beyond this number the oldest entries are dropped. */
const maxEntries = 200;
/** Largest file in bytes: far more than `maxEntries` need. */
const maxBytes = 4 * 1024 * 1024;

/** Returns the folder for files that can be recreated: LOREKEEP_CACHE, else LOREKEEP_STATE, else the platform's cache folder. */
export function cacheFolder(): string {
  const { LOREKEEP_CACHE, LOREKEEP_STATE, XDG_CACHE_HOME, LOCALAPPDATA } = process.env;
  if (LOREKEEP_CACHE) return LOREKEEP_CACHE;
  if (LOREKEEP_STATE) return resolve(LOREKEEP_STATE, 'cache');
  if (process.platform === 'win32')
    return join(LOCALAPPDATA || join(userHome(), 'AppData', 'Local'), 'lorekeep');
  if (process.platform === 'darwin') return join(userHome(), 'Library', 'Caches', 'lorekeep');
  return join(XDG_CACHE_HOME || join(userHome(), '.cache'), 'lorekeep');
}

/**
 * The settings measured on this machine, in a JSON file. The file only saves time: if it is absent, damaged or read-only,
 * models are measured again.
 */
export class ComputeSettingsCache {
  constructor(
    readonly file: string,
    private readonly processor: string,
    private readonly version: string,
  ) {}

  /** `kind`: each kind of model has a separate file. */
  static ofUser(kind: MeasuredKind = 'embedding'): ComputeSettingsCache {
    const { version } = JSON.parse(readFileSync(join(packageFolder(), 'package.json'), 'utf8')) as {
      version: string;
    };
    const model = cpus()[0]?.model.trim() || process.arch;
    const kernels = process.env.LOREKEEP_KERNELS;
    const processor = kernels ? `${model}, LOREKEEP_KERNELS=${kernels}` : model;
    return new ComputeSettingsCache(join(cacheFolder(), `${kind}-settings.json`), processor, version);
  }

  /** Returns the entries for this processor and version, oldest first. */
  async read(): Promise<ComputeSettings[]> {
    return (await this.readAll()).filter((entry) => this.isOwn(entry)).filter(isComplete);
  }

  /** Adds the settings that a load measured, and updates the path if the model file in `known` no longer exists. */
  async keep(loaded: Measured & { measured: boolean }, known: readonly ComputeSettings[]): Promise<void> {
    const kept = known.find((entry) => isSame(entry, loaded));
    if (loaded.measured || (kept !== undefined && !existsSync(kept.path))) await this.add(loaded);
  }

  /** Adds a model's settings, replacing older ones with the same candidates, processor and version. */
  async add(measured: Measured): Promise<void> {
    const others = (await this.readAll()).filter((entry) => !(this.isOwn(entry) && isSame(entry, measured)));
    const { fingerprint, candidates, name, path, runtime, batchTokens } = measured;
    const { processor, version } = this;
    const added = { fingerprint, name, path, candidates, runtime, batchTokens, processor, version };
    await this.write([...others, added].slice(-maxEntries));
  }

  /** Returns why no settings can be kept in the file; undefined if they can. */
  async obstacle(): Promise<Error | undefined> {
    try {
      await checkOurs(this.file, replaceable);
      let folder = resolve(dirname(this.file));
      while (!existsSync(folder) && folder !== dirname(folder)) folder = dirname(folder);
      await access(folder, constants.W_OK);
      return undefined;
    } catch (error) {
      return error as Error;
    }
  }

  private isOwn(entry: Stored): boolean {
    return entry.processor === this.processor && entry.version === this.version;
  }

  private async readAll(): Promise<Stored[]> {
    try {
      const { entries } = JSON.parse(await readRegular(this.file, maxBytes)) as { entries: unknown[] };
      return entries.filter(isEntry);
    } catch {
      return [];
    }
  }

  private async write(entries: Stored[]): Promise<void> {
    const text = `${JSON.stringify({ entries }, undefined, 1)}\n`;
    // If the file cannot be written, the next load measures again.
    await replaceFile(this.file, text, replaceable).catch(() => {});
  }
}

/**
 * Returns this version's entries for this machine, oldest first; the path of their file; and, if new entries cannot be
 * written there, the reason. Never rejects.
 */
export async function measuredSettings(
  kind: MeasuredKind = 'embedding',
): Promise<{ file: string; entries: ComputeSettings[]; obstacle: Error | undefined }> {
  const cache = ComputeSettingsCache.ofUser(kind);
  return { file: cache.file, entries: await cache.read(), obstacle: await cache.obstacle() };
}

/** Returns whether a file begins as any version of this class writes it; the rest may be damaged. */
function isSettings(content: string): boolean {
  return /^\s*\{\s*"entries"\s*:\s*\[/.test(content);
}

const replaceable = { isOurs: isSettings, maxBytes };

/** Returns whether both are for the same model and the same candidate runtimes. */
function isSame(entry: Stored, { fingerprint, candidates }: Measured): boolean {
  return entry.fingerprint === fingerprint && entry.candidates?.join() === candidates.join();
}

function isComplete(entry: Stored): entry is ComputeSettings {
  return entry.candidates?.includes(entry.runtime) === true && entry.path !== undefined;
}

function isEntry(value: unknown): value is Stored {
  if (typeof value !== 'object' || value === null) return false;
  const entry = value as Record<string, unknown>;
  const isText = (part: unknown) => typeof part === 'string';
  const { candidates, path, batchTokens } = entry;
  return (
    ['fingerprint', 'name', 'runtime', 'processor', 'version'].every((key) => isText(entry[key])) &&
    (candidates === undefined || (Array.isArray(candidates) && candidates.every(isText))) &&
    (path === undefined || isText(path)) &&
    Number.isInteger(batchTokens) &&
    (batchTokens as number) > 0 &&
    (batchTokens as number) <= 512
  );
}
