import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { LorekeepError } from '../../lib/basics.js';
import { modelBytes, partNames } from '../base/files/model-parts.js';
import { readJson } from '../base/files/read-json.js';
import { describeIssue } from '../base/schema/field-issue.js';
import type { JsonText } from '../base/schema/json-text.js';
import { parseLenient } from '../base/schema/lenient.js';
import { partSources } from './downloads/address.js';
import { ModelDownloads } from './downloads/model-downloads.js';
import { hostOf, remoteMistake } from './remote/settings.js';
import { type CatalogEntry, catalogSchema, isDownload, type ModelVariant } from './schema.js';
import { voiceProblem } from './voice-settings.js';

/** A variant and its file. */
export interface LocatedVariant {
  readonly variant: ModelVariant;
  readonly path: string;
  readonly present: boolean;
  /** Why this variant was chosen. */
  readonly reason: string;
}

/** The available models, by name. A model's files are checked when it is first used. */
export class Catalog {
  /** Path of the catalog. */
  readonly file: string;
  readonly warnings: readonly string[];
  readonly downloads: ModelDownloads;
  /** Returns the bytes that a model may take, which decides between variants. Default: any number. */
  room: (() => number | undefined) | undefined;
  /** False in a catalog that a folder brought along: its remote models are refused, because they would send texts away. */
  mayAskOthers = true;
  /** Flags with which a command uses this catalog and this folder of downloads; shown in errors. */
  commandFlags: string | undefined;
  readonly #entries: Map<string, CatalogEntry>;

  private constructor(
    file: string,
    entries: Map<string, CatalogEntry>,
    warnings: readonly string[],
    downloads: ModelDownloads,
  ) {
    this.downloads = downloads;
    this.file = file;
    this.#entries = entries;
    this.warnings = warnings;
  }

  /** Reads a catalog. `downloads`: folder of downloaded models, default `.models` beside it. @throws LorekeepError that names the file, the line and the entry */
  static async load(path: string, downloads = join(dirname(path), '.models')): Promise<Catalog> {
    const json = await readCatalog(path);
    const at = (keys: readonly PropertyKey[]) => {
      const { line, column } = json.positionOf(keys);
      return `${path}:${line}:${column}: ${entryName(json.value, keys)}`;
    };
    const refuse = (keys: readonly PropertyKey[], reason: string) =>
      new LorekeepError('INVALID_ARGUMENT', `${at(keys)}${reason}`, { file: path, reason });
    const parsed = parseLenient(catalogSchema, json.value);
    if (!parsed.ok) throw refuse(parsed.issue.keys, describeIssue(parsed.issue));
    const entries = new Map<string, CatalogEntry>();
    for (const [index, entry] of parsed.value.models.entries()) {
      if (entries.has(entry.name)) throw refuse(['models', index, 'name'], 'the name is used twice');
      const clash = clashOf(entry.variants);
      if (clash !== undefined) {
        const [number, reason] = clash;
        throw refuse(['models', index, 'variants', number], `variants[${number}]: ${reason}`);
      }
      for (const [number, variant] of entry.variants.entries()) {
        const mistake = mistakeIn(variant) ?? remoteMisfit(entry, variant);
        if (mistake === undefined) continue;
        throw refuse(['models', index, 'variants', number], `variants[${number}]: ${mistake}`);
      }
      const voice = voiceProblem(entry.vad ?? {});
      if (voice !== undefined)
        throw refuse(['models', index, 'vad', voice.field], `vad.${voice.field}: ${voice.reason}`);
      entries.set(entry.name, entry);
    }
    const warnings = parsed.ignored.map(
      (issue) => `${at(issue.keys)}${describeIssue(issue)}; it has no effect`,
    );
    return new Catalog(path, entries, warnings, new ModelDownloads(downloads));
  }

  /** Adds a model for the life of this object; the file stays as it is. Precondition: the name is free. */
  add(entry: CatalogEntry): void {
    this.#entries.set(entry.name, entry);
  }

  find(name: string): CatalogEntry | undefined {
    return this.#entries.get(name);
  }

  /** All models, in the catalog's order. */
  get entries(): CatalogEntry[] {
    return [...this.#entries.values()];
  }

  /** Names of the models of a type, in the catalog's order. */
  namesOf(type: CatalogEntry['model_type']): string[] {
    return this.entries.filter((entry) => entry.model_type === type).map(({ name }) => name);
  }

  /** Returns the first file of a variant, existing or not, and whether all of its files exist; of a remote one, its host. */
  pathOf({ file, remote, ...source }: ModelVariant): { path: string; present: boolean } {
    if (remote !== undefined) return { path: hostOf(remote), present: this.mayAskOthers };
    const path = file === undefined ? this.downloads.path(source) : this.resolveFile(file);
    return { path, present: partNames(path).every((part) => existsSync(part)) };
  }

  /**
   * Returns the first variant whose file is present and fits into memory, otherwise the smallest that is present, otherwise
   * the first that has a local path, otherwise the first.
   */
  locate({ variants }: CatalogEntry): LocatedVariant {
    const all = variants.map((variant) => ({ variant, ...this.pathOf(variant) }));
    const present = all.filter((one) => one.present);
    if (present.length > 0) return this.#fitting(present, 'present', ({ path }) => modelBytes(path));
    const local = all.find(({ variant }) => variant.file !== undefined);
    if (local !== undefined) return { ...local, reason: 'no file is present; the first with a local path' };
    const first = all[0] as Omit<LocatedVariant, 'reason'>;
    return { ...first, reason: 'no file is present; the first' };
  }

  /** Returns the variant to download: the named one, or the first that fits into memory, otherwise the smallest. */
  downloadable({ variants }: CatalogEntry, name?: string | undefined): ModelVariant | undefined {
    const away = variants.filter(isDownload);
    if (name !== undefined) return away.find((variant) => variant.name === name);
    if (away.length === 0) return undefined;
    const all = away.map((variant) => ({ variant, ...this.pathOf(variant) }));
    return this.#fitting(all, 'downloadable', ({ variant }) => variant.size_bytes).variant;
  }

  /** Precondition: there is one. A size that is not known fits. */
  #fitting(
    found: readonly Omit<LocatedVariant, 'reason'>[],
    what: string,
    size: (one: Omit<LocatedVariant, 'reason'>) => number | undefined,
  ): LocatedVariant {
    const room = this.room?.() ?? Number.POSITIVE_INFINITY;
    const bytes = found.map((one) => size(one) ?? 0);
    const index = bytes.findIndex((each) => each <= room);
    const first = found[Math.max(0, index)] as Omit<LocatedVariant, 'reason'>;
    if (index === 0) return { ...first, reason: `the first that is ${what}` };
    const mib = Math.floor(room / 1024 / 1024);
    if (index > 0) return { ...first, reason: `the first that is ${what} and fits into ${mib} MiB` };
    const smallest = bytes.indexOf(Math.min(...bytes));
    const least = found[smallest] as Omit<LocatedVariant, 'reason'>;
    return { ...least, reason: `the smallest that is ${what}; none fits into ${mib} MiB` };
  }

  /** Returns the absolute path of a variant's `file`. */
  resolveFile(file: string): string {
    return resolve(dirname(this.file), file);
  }
}

/** Returns the number of a variant that contradicts an earlier one of its model, and how. */
function clashOf(variants: readonly ModelVariant[]): [number, string] | undefined {
  for (const [number, variant] of variants.entries()) {
    for (const [before, earlier] of variants.slice(0, number).entries()) {
      if (variant.name !== undefined && variant.name === earlier.name)
        return [number, `the name ${JSON.stringify(variant.name)} is already used by variants[${before}]`];
      const differing = differingContent(variant, earlier);
      if (differing !== undefined)
        return [number, `the same file as variants[${before}], with another "${differing}"`];
    }
  }
  return undefined;
}

/** Returns the first field by which two variants say that one file has different bytes. */
function differingContent(one: ModelVariant, other: ModelVariant): string | undefined {
  if (one.remote !== undefined || other.remote !== undefined) return undefined;
  if (one.file !== other.file || one.url !== other.url || one.hf !== other.hf) return undefined;
  const fields = ['size_bytes', 'sha256', 'parts_sha256'] as const;
  return fields.find((field) => {
    const [a, b] = [one[field], other[field]].map((value) => value && String(value).toLowerCase());
    return a !== undefined && b !== undefined && a !== b;
  });
}

/** Returns the defect of a variant, without its place, or undefined. */
function mistakeIn({ file, url, hf, remote, sha256, parts_sha256: sums }: ModelVariant): string | undefined {
  const places = [file, url, hf, remote].filter((place) => place !== undefined);
  if (places.length !== 1) return 'exactly one of "file", "url", "hf" and "remote" is expected';
  if (remote !== undefined) return remoteMistake(remote);
  if (sums !== undefined && sha256 !== undefined) return 'one of "sha256" and "parts_sha256" is expected';
  try {
    const count = file === undefined ? partSources({ url, hf }).length : partNames(file).length;
    if (sums === undefined || sums.length === count) return undefined;
    return `parts_sha256: ${sums.length} checksums for ${count === 1 ? 'one file' : `${count} parts`}`;
  } catch (error) {
    if (error instanceof LorekeepError) return error.message;
    throw error;
  }
}

/** Returns the field of a remote variant that has no meaning for it, or that it lacks. */
function remoteMisfit({ model_type, pooling }: CatalogEntry, variant: ModelVariant): string | undefined {
  if (variant.remote === undefined) return undefined;
  if (model_type === 'vad' || model_type === 'stt')
    return `remote: a model of type ${model_type} is computed here`;
  if (model_type === 'llm' && variant.remote.api === 'tei') return 'remote.api: "tei" has no language models';
  if (pooling !== undefined) return 'pooling: the server of a remote model decides';
  const ofFiles = ['sha256', 'parts_sha256', 'reference', 'size_bytes', 'placement'] as const;
  const wrong = ofFiles.find((field) => variant[field] !== undefined);
  if (wrong !== undefined) return `${wrong}: a remote model has no file`;
  if (model_type !== 'reranker' && variant.context_size === undefined)
    return 'context_size: is missing; no server states what a remote model accepts';
  return undefined;
}

async function readCatalog(path: string): Promise<JsonText> {
  try {
    return await readJson(path);
  } catch (cause) {
    if (!(cause instanceof LorekeepError) || cause.code !== 'NOT_FOUND') throw cause;
    const reason = 'the model catalog does not exist';
    throw LorekeepError.about('NOT_FOUND', { file: path, reason }, { cause });
  }
}

/** Returns `model "e5": ` if `keys` lead into an entry with a name. */
function entryName(written: unknown, [list, index]: readonly PropertyKey[]): string {
  if (list !== 'models' || typeof index !== 'number') return '';
  const name = (written as { models: { name?: unknown }[] }).models[index]?.name;
  return typeof name === 'string' ? `model ${JSON.stringify(name.slice(0, 128))}: ` : '';
}
