import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { fileChecksum } from '../base/files/checksum.js';
import { partNames, statedChecksum } from '../base/files/model-parts.js';
import type { Catalog } from '../models/catalog.js';
import type { Contradiction } from '../models/contradictions.js';
import type { CatalogEntry, ModelVariant } from '../models/schema.js';
import { size as sizeText } from './terminal/amounts.js';

/** One variant of a catalog entry, and the state of its file. */
export interface ModelFile {
  model: string;
  type: CatalogEntry['model_type'];
  variant: ModelVariant;
  /** Undefined for a variant that is not downloaded. */
  path: string | undefined;
  state: 'present' | 'absent' | 'remote' | 'damaged' | 'refused';
  /** The damage, or the reason why a check was impossible. */
  reason?: string;
  bytes?: number;
  /** Whether the catalog states a size or checksum that the file matches. */
  verified: boolean;
  /** Whether the server would use this variant. */
  used: boolean;
  /** The facts that the catalog and a present file state differently. None are found where the addon does not load. */
  contradictions: readonly Contradiction[];
  /** What is known of the tokens and the chat template of a language model that may be wrong. */
  notes: readonly string[];
  /** The damage, or why a load refuses the file. */
  unusable: string | undefined;
}

/** Compares the files of a catalog's models with the catalog and downloads.json: sizes, checksums and the models' headers. */
export async function modelFiles(
  catalog: Catalog,
  signal: AbortSignal,
  { entries = catalog.entries, withChecksums = true, withHeaders = true }: ModelFilesOptions = {},
): Promise<ModelFile[]> {
  const files: ModelFile[] = [];
  for (const entry of entries) {
    const used = catalog.locate(entry).variant;
    for (const variant of entry.variants) {
      const { path, present } = catalog.pathOf(variant);
      const away = variant.file === undefined && !present;
      const elsewhere = variant.remote !== undefined;
      const state = elsewhere
        ? elsewhereState(catalog)
        : away
          ? remoteState(catalog, variant)
          : await stateOf(path, await expectedOf(catalog, variant), withChecksums, signal);
      const isPresent = state.state === 'present';
      const hasHeader = isPresent && withHeaders && !elsewhere;
      const contradictions = hasHeader ? await differences(path, entry, variant) : [];
      files.push({
        ...{
          model: entry.name,
          type: entry.model_type,
          variant,
          path: away || elsewhere ? undefined : path,
          ...state,
        },
        used: isPresent && variant === used,
        contradictions,
        notes: hasHeader && entry.model_type === 'llm' ? await notesOf(path) : [],
        unusable: state.state === 'damaged' ? state.reason : refusalOf(contradictions),
      });
    }
  }
  return files;
}

/** Returns nothing where the addon does not load. */
async function notesOf(path: string): Promise<readonly string[]> {
  const headers = await import('../models/model-header.js').catch(() => undefined);
  return (await headers?.headerNotes(path)) ?? [];
}

/** Compares a present file with its catalog entry. Returns nothing where the addon does not load. */
export async function differences(
  path: string,
  entry: CatalogEntry,
  variant: ModelVariant,
): Promise<readonly Contradiction[]> {
  const headers = await import('../models/contradictions.js').catch(() => undefined);
  return (await headers?.contradictions(path, entry, variant)) ?? [];
}

/** Returns why a load refuses a file with these contradictions, if it does. */
export const refusalOf = (differing: readonly Contradiction[]) =>
  differing.find(({ refused }) => refused)?.text;

export interface ModelFilesOptions {
  /** Default: all. */
  entries?: readonly CatalogEntry[] | undefined;
  /** false: only sizes are compared. */
  withChecksums?: boolean;
  /** false: the addon, which reads headers, is not loaded. */
  withHeaders?: boolean;
}

/** A size or a checksum, and who states it. */
interface Stated<Value> {
  value: Value;
  by: 'the catalog' | 'downloads.json';
}

/** The expected size and checksums of a variant's files. */
interface Expected {
  /** Bytes of all files together. */
  size: Stated<number> | undefined;
  /** Checksum of each file. */
  sums: readonly (Stated<string> | undefined)[];
}

/** Returns the values of the catalog; for a download, downloads.json has the rest. */
async function expectedOf(catalog: Catalog, variant: ModelVariant): Promise<Expected> {
  const recorded = variant.file === undefined ? await catalog.downloads.records(variant).catch(() => []) : [];
  const sizes = recorded.map((record) => record?.size_bytes);
  const bytes = sizes.length > 0 ? sizes.reduce((sum, size) => add(sum, size), 0) : undefined;
  const parts = partNames(catalog.pathOf(variant).path);
  return {
    size: stated(variant.size_bytes, bytes),
    sums: parts.map((_, index) => stated(statedChecksum(variant, index), recorded[index]?.sha256)),
  };
}

/** Returns undefined unless both numbers are known. */
const add = (sum: number | undefined, size: number | undefined) =>
  sum === undefined || size === undefined ? undefined : sum + size;

function stated<Value>(catalog: Value | undefined, recorded: Value | undefined): Stated<Value> | undefined {
  if (catalog !== undefined) return { value: catalog, by: 'the catalog' };
  return recorded === undefined ? undefined : { value: recorded, by: 'downloads.json' };
}

/** The state of a model that another server computes: it is not asked. */
function elsewhereState({ mayAskOthers }: Catalog): State {
  if (mayAskOthers) return { state: 'present', verified: false };
  const reason =
    'nobody named this config: name it with --config or LOREKEEP_CONFIG to let it ask other servers';
  return { state: 'refused', verified: false, reason };
}

/** Names the bytes of a download that has not ended. */
function remoteState(catalog: Catalog, variant: ModelVariant): State {
  const bytes = catalog.downloads.bytesSoFar(variant);
  const reason = `${sizeText(bytes)} of it are there so far`;
  return { state: 'remote', verified: false, ...(bytes > 0 && { reason }) };
}

type State = Pick<ModelFile, 'state' | 'reason' | 'bytes' | 'verified'>;

async function stateOf(
  path: string,
  { size, sums }: Expected,
  withChecksums: boolean,
  signal: AbortSignal,
): Promise<State> {
  const parts = partNames(path);
  let bytes = 0;
  for (const [index, part] of parts.entries()) {
    const found = await stat(part).catch((error: NodeJS.ErrnoException) => error);
    if (found instanceof Error) return unreadable(found, part, index, parts.length);
    if (!found.isFile()) return { ...damage('it is not a file', part, parts), bytes: found.size };
    bytes += found.size;
  }
  if (size !== undefined && bytes !== size.value)
    return { ...damage(`it has ${bytes} bytes, ${size.by} says ${size.value}`, path), bytes };
  for (const [index, part] of withChecksums ? parts.entries() : []) {
    const expected = sums[index];
    if (expected === undefined) continue;
    const sum = await fileChecksum(part, signal).catch((error: NodeJS.ErrnoException) => error);
    signal.throwIfAborted();
    const reason =
      sum instanceof Error ? sum.message : `its SHA-256 is ${sum}, ${expected.by} says ${expected.value}`;
    if (sum !== expected.value) return { ...damage(reason, part, parts), bytes };
  }
  const verified = byCatalog(size) || sums.every(byCatalog);
  return { state: 'present', bytes, verified };
}

const byCatalog = (one: Stated<unknown> | undefined) => one?.by === 'the catalog';

/** The state of a model one of whose files cannot be read, or is not there. */
function unreadable(error: NodeJS.ErrnoException, part: string, index: number, count: number): State {
  if (error.code !== 'ENOENT') return damage(error.message, part);
  if (count === 1) return { state: 'absent', verified: false };
  const reason = `part ${index + 1} of ${count} is missing: ${basename(part)}`;
  return { state: 'absent', reason, verified: false };
}

/** Names the part of a model that has several. */
function damage(reason: string, part: string, parts: readonly string[] = []): State {
  const named = parts.length > 1 ? `${basename(part)}: ${reason}` : reason;
  return { state: 'damaged', reason: named, verified: false };
}
