import { stat } from 'node:fs/promises';
import type { Catalog } from '../catalog/catalog.js';

import type { CatalogEntry, ModelVariant } from '../catalog/schema.js';
import { fileChecksum } from '../files/checksum.js';

/** One variant of a catalog entry, and the state of its file. */
export interface ModelFile {
  model: string;
  type: string;
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

const sizeOf = ({ sha256: _, ...variant }: ModelVariant): ModelVariant => variant;

type State = Pick<ModelFile, 'state' | 'reason' | 'bytes' | 'verified'>;

async function stateOf(
  path: string | undefined,
  { size_bytes, sha256 }: ModelVariant,
  signal: AbortSignal,
): Promise<State> {
  if (path === undefined) return { state: 'remote', verified: false };
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => error);
  if (found instanceof Error) {
    if (found.code === 'ENOENT') return { state: 'absent', verified: false };
    return { state: 'damaged', reason: found.message, verified: false };
  }
  const bytes = found.size;
  const damaged = (reason: string): State => ({ state: 'damaged', reason, bytes, verified: false });
  if (!found.isFile()) return damaged('it is not a file');
  if (size_bytes !== undefined && bytes !== size_bytes) {
    return damaged(`it has ${bytes} bytes, the catalog says ${size_bytes}`);
  }
  if (sha256 === undefined) return { state: 'present', bytes, verified: size_bytes !== undefined };
  const sum = await fileChecksum(path, signal).catch((error: NodeJS.ErrnoException) => error);
  signal.throwIfAborted();
  if (sum instanceof Error) return damaged(sum.message);
  if (sum !== sha256.toLowerCase()) return damaged(`its SHA-256 is ${sum}, the catalog says ${sha256}`);
  return { state: 'present', bytes, verified: true };
}
