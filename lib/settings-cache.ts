import { existsSync, readFileSync } from 'node:fs';
import { cpus, homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageFolder } from './binding.js';
import type { NativeKnownSettings } from './native.js';
import { readRegular, replaceFile } from './regular-file.js';

/** How a model is computed best on a machine, and what that was measured with. */
export interface ComputeSettings extends NativeKnownSettings {
  /** The model's own name, for people. */
  name: string;
  /** The file that it was loaded from. */
  path: string;
  /** The processor, and the version of this package. */
  processor: string;
  version: string;
}

/** What is known when a model is loaded. */
type Measured = Omit<ComputeSettings, 'processor' | 'version'>;

/** An entry of the file. Versions before wrote neither the candidates nor the path. */
type Stored = Omit<ComputeSettings, 'candidates' | 'path'> & {
  candidates?: readonly string[];
  path?: string;
};

/** Models of several machines may share a home folder; the oldest entries go. */
const mostEntries = 200;
/** Longest file: far more than so many entries take. */
const mostBytes = 4 * 1024 * 1024;

/** The folder for what can be made again: LOREKEEP_CACHE, else the platform's. */
export function cacheFolder(): string {
  const { LOREKEEP_CACHE, XDG_CACHE_HOME, LOCALAPPDATA } = process.env;
  if (LOREKEEP_CACHE) return LOREKEEP_CACHE;
  if (process.platform === 'win32') return join(LOCALAPPDATA || join(home(), 'AppData', 'Local'), 'lorekeep');
  if (process.platform === 'darwin') return join(home(), 'Library', 'Caches', 'lorekeep');
  return join(XDG_CACHE_HOME || join(home(), '.cache'), 'lorekeep');
}

/** A user who is in no list, as in some containers, has no home folder. */
function home(): string {
  try {
    return homedir();
  } catch {
    return tmpdir();
  }
}

/**
 * The settings that were measured on this machine, in a JSON file. It saves time and nothing else: a file that is absent,
 * damaged or cannot be written means that models are measured again.
 */
export class ComputeSettingsCache {
  constructor(
    readonly file: string,
    private readonly processor: string,
    private readonly version: string,
  ) {}

  static ofUser(): ComputeSettingsCache {
    const { version } = JSON.parse(readFileSync(join(packageFolder(), 'package.json'), 'utf8')) as {
      version: string;
    };
    const processor = cpus()[0]?.model.trim() || process.arch;
    return new ComputeSettingsCache(join(cacheFolder(), 'embedding-settings.json'), processor, version);
  }

  /** What was measured with this processor and this version, the oldest first. */
  async read(): Promise<ComputeSettings[]> {
    return (await this.readAll()).filter((entry) => this.isOwn(entry)).filter(isComplete);
  }

  /** Adds what a load has measured, and says anew where the model is when the file of `known` has gone. */
  async keep(loaded: Measured & { measured: boolean }, known: readonly ComputeSettings[]): Promise<void> {
    const kept = known.find((entry) => isSame(entry, loaded));
    if (loaded.measured || (kept !== undefined && !existsSync(kept.path))) await this.add(loaded);
  }

  /** Adds a model's settings, in place of older ones of the same candidates, processor and version. */
  async add(measured: Measured): Promise<void> {
    const others = (await this.readAll()).filter((entry) => !(this.isOwn(entry) && isSame(entry, measured)));
    const { fingerprint, candidates, name, path, runtime, batchTokens } = measured;
    const { processor, version } = this;
    const added = { fingerprint, name, path, candidates, runtime, batchTokens, processor, version };
    await this.write([...others, added].slice(-mostEntries));
  }

  private isOwn(entry: Stored): boolean {
    return entry.processor === this.processor && entry.version === this.version;
  }

  private async readAll(): Promise<Stored[]> {
    try {
      const { entries } = JSON.parse(await readRegular(this.file, mostBytes)) as { entries: unknown[] };
      return entries.filter(isEntry);
    } catch {
      return [];
    }
  }

  private async write(entries: Stored[]): Promise<void> {
    const text = `${JSON.stringify({ entries }, undefined, 1)}\n`;
    // The settings are measured again where they cannot be kept.
    await replaceFile(this.file, text, { isOurs: isSettings, most: mostBytes }).catch(() => {});
  }
}

/** What was measured on this machine, by this version, the oldest first, and the file that says so. Never fails. */
export async function measuredSettings(): Promise<{ file: string; entries: ComputeSettings[] }> {
  const cache = ComputeSettingsCache.ofUser();
  return { file: cache.file, entries: await cache.read() };
}

/** Whether a file's content is one of write(), of any version; damaged ones begin in the same way. */
function isSettings(content: string): boolean {
  return /^\s*\{\s*"entries"\s*:\s*\[/.test(content);
}

/** Whether both are of one model, chosen among the same runtimes. */
function isSame(entry: Stored, { fingerprint, candidates }: Measured): boolean {
  return entry.fingerprint === fingerprint && entry.candidates?.join() === candidates.join();
}

function isComplete(entry: Stored): entry is ComputeSettings {
  return entry.candidates !== undefined && entry.path !== undefined;
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
