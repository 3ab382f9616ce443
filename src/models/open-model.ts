import { LorekeepError } from '../../lib/basics.js';
import type { Catalog, LocatedVariant } from './catalog.js';
import { checkModelFile } from './checked-file.js';
import { contradictions } from './contradictions.js';
import { ModelLoadError, nobodyNamed, notDownloaded } from './model-load-error.js';
import { ModelTooLargeError } from './model-memory.js';
import type { CatalogEntry } from './schema.js';

/** Receives messages about loaded and unloaded models, such as a server's log. */
export interface ModelLog {
  info(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

/** The reason of a load's signal when others need the video memory: the model is loaded again, on the CPU. */
export class Displaced extends Error {
  override readonly name = 'Displaced';
}

export interface OpenModelOptions {
  catalog: Catalog;
  entry: CatalogEntry;
  log: ModelLog;
  signal: AbortSignal;
  located: LocatedVariant;
}

/**
 * Checks the file of a catalog entry and loads it with `load`, or asks the server of a remote one; logs success and failure.
 * @throws ModelLoadError, and errors of `load` that are not a LorekeepError
 */
export async function openModel<Model extends { readonly facts: object; close(): Promise<void> }>(
  { catalog, entry, located, log, signal }: OpenModelOptions,
  load: () => Promise<Model>,
): Promise<Model> {
  const { variant, path, present, reason } = located;
  const { remote } = variant;
  if (remote !== undefined && !catalog.mayAskOthers) throw nobodyNamed(entry.name, catalog);
  if (!present && variant.file === undefined) throw notDownloaded(entry.name, catalog);
  const started = performance.now();
  const model = { model: entry.name, ...(remote === undefined ? { path } : { host: path }) };
  const check = async () => remote ?? checkModelFile(path, variant, signal);
  try {
    await check();
    const loaded = await load();
    // Another file may have been put there during the load. That of an unchanged file is not computed again.
    await check().catch(async (error: unknown) => {
      await loaded.close();
      throw error;
    });
    const { dimension, contextSize, fingerprint, device, runtime } = loaded.facts as Record<string, unknown>;
    const ms = Math.round(performance.now() - started);
    const differing = remote === undefined ? await contradictions(path, entry, variant).catch(() => []) : [];
    const facts = {
      ...{ dimension, contextSize, fingerprint, device, runtime, variant: variant.name, chosen: reason, ms },
      ...(differing.length > 0 && { contradictions: differing.map(({ text }) => text) }),
    };
    log.info({ ...model, ...facts }, 'model loaded');
    return loaded;
  } catch (error) {
    if (signal.reason instanceof Displaced) {
      log.info(model, 'model not loaded on the GPU: others need its memory');
      throw signal.reason;
    }
    log.error({ ...model, err: error }, 'model not loaded');
    throw signal.aborted
      ? refusal(catalog.file, entry.name, 'CLOSED')
      : loadFailure(catalog.file, entry.name, error);
  }
}

/** Returns the error that a client may see: a ModelLoadError for every LorekeepError. `file`: the catalog's. */
export function loadFailure(file: string, model: string, cause: unknown): unknown {
  if (!(cause instanceof LorekeepError) || cause instanceof ModelLoadError) return cause;
  const { code, message } = cause;
  // The reason of a model that never fits has both numbers and no path.
  const tooLarge = cause instanceof ModelTooLargeError ? String(cause.detail.reason) : undefined;
  const reason = tooLarge ?? message;
  const told = tooLarge ?? `cannot be loaded (${code}); the server's log says why`;
  return new ModelLoadError(code, { model, file, reason, told }, { cause });
}

/** Returns the error for a model that cannot be used any more. `file`: the catalog's. */
export function refusal(file: string, model: string, why: 'CLOSED' | 'CHANGED'): ModelLoadError {
  if (why === 'CLOSED') return new ModelLoadError(why, { model, file, reason: 'used after close()' });
  const reason = 'its file has changed; create the storages and agents that use it again';
  return new ModelLoadError('CORRUPT', { model, file, reason, why });
}
