import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Catalog } from '../catalog/catalog.js';

import type { CatalogEntry, ModelVariant } from '../catalog/schema.js';
import { fileChecksum } from '../files/checksum.js';
import { partNames, statedChecksum } from '../files/model-parts.js';

/** One variant of a catalog entry, and the state of its file. */
export interface ModelFile {
  model: string;
  type: CatalogEntry['model_type'];
  variant: ModelVariant;
  /** Undefined for a variant that is not downloaded. */
  path: string | undefined;
  state: 'present' | 'absent' | 'remote' | 'damaged';
  /** The damage, or the reason why a check was impossible. */
  reason?: string;
  bytes?: number;
  /** Whether the catalog states a size or checksum that the file matches. */
  verified: boolean;
}

/** Compares the files of a catalog's models with the sizes and checksums in the catalog. */
export async function modelFiles(
  catalog: Catalog,
  signal: AbortSignal,
  { entries = catalog.entries, withChecksums = true }: ModelFilesOptions = {},
): Promise<ModelFile[]> {
  const files: ModelFile[] = [];
  for (const { name, model_type, variants } of entries) {
    for (const variant of variants) {
      const { path, present } = catalog.pathOf(variant);
      const remote = variant.file === undefined && !present;
      const state = await stateOf(
        remote ? undefined : path,
        withChecksums ? variant : sizeOf(variant),
        signal,
      );
      files.push({ model: name, type: model_type, variant, path: remote ? undefined : path, ...state });
    }
  }
  return files;
}

export interface ModelFilesOptions {
  /** Default: all. */
  entries?: readonly CatalogEntry[];
  /** false: only sizes are compared. */
  withChecksums?: boolean;
}

const sizeOf = ({ sha256: _, parts_sha256: __, ...variant }: ModelVariant): ModelVariant => variant;

type State = Pick<ModelFile, 'state' | 'reason' | 'bytes' | 'verified'>;

async function stateOf(path: string | undefined, variant: ModelVariant, signal: AbortSignal): Promise<State> {
  if (path === undefined) return { state: 'remote', verified: false };
  const parts = partNames(path);
  let bytes = 0;
  for (const [index, part] of parts.entries()) {
    const found = await stat(part).catch((error: NodeJS.ErrnoException) => error);
    if (found instanceof Error) return unreadable(found, part, index, parts.length);
    if (!found.isFile()) return { ...damage('it is not a file', part, parts), bytes: found.size };
    bytes += found.size;
  }
  const { size_bytes: stated } = variant;
  if (stated !== undefined && bytes !== stated)
    return { ...damage(`it has ${bytes} bytes, the catalog says ${stated}`, path), bytes };
  const sums = parts.map((_, index) => statedChecksum(variant, index));
  for (const [index, part] of parts.entries()) {
    const expected = sums[index];
    if (expected === undefined) continue;
    const sum = await fileChecksum(part, signal).catch((error: NodeJS.ErrnoException) => error);
    signal.throwIfAborted();
    const reason = sum instanceof Error ? sum.message : `its SHA-256 is ${sum}, the catalog says ${expected}`;
    if (sum !== expected) return { ...damage(reason, part, parts), bytes };
  }
  const verified = stated !== undefined || sums.every((sum) => sum !== undefined);
  return { state: 'present', bytes, verified };
}

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
