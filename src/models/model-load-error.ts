import { AnyLorekeepError } from '../../lib/basics.js';
import type { ErrorCode } from '../../lib/internal.js';
import { shellText } from '../base/schema/shell-word.js';
import type { Catalog } from './catalog.js';
import { pullCommand } from './pull-command.js';

/** A model of the catalog failed to load. `message` may contain paths on this machine. */
export class ModelLoadError extends AnyLorekeepError {
  /** The model's name. */
  readonly model: string;
  /** The error code, or CHANGED if the model file was replaced since the first load. */
  readonly why: ErrorCode | 'CHANGED';
  /** The message for clients, without paths on this machine. */
  readonly told: string;

  constructor(code: ErrorCode, failure: ModelFailure, options?: ErrorOptions) {
    const { model, file, reason, told = reason, why = code } = failure;
    const shown = `model ${JSON.stringify(model)}`;
    super(code, `${shown} of ${file}: ${reason}`, { file, model, reason }, options);
    this.model = model;
    this.why = why;
    this.told = `${shown}: ${told}`;
  }
}

interface ModelFailure {
  model: string;
  /** Path of the catalog. */
  file: string;
  reason: string;
  /** The reason without paths, if it differs. */
  told?: string;
  why?: 'CHANGED';
}

export function notDownloaded(model: string, catalog: Catalog): ModelLoadError {
  const { file } = catalog;
  const reason = `it has not been downloaded; run ${pullCommand(catalog, model)}`;
  // The flags hold a path of this machine.
  const command = `lorekeep models pull ${shellText(model)}`;
  const told = `it has not been downloaded; ${command}, with the config of the server, downloads it`;
  return new ModelLoadError('NOT_FOUND', { model, file, reason, told });
}

/** The error for a remote model of a catalog that came with the current folder. */
export function nobodyNamed(model: string, catalog: Catalog): ModelLoadError {
  const { file } = catalog;
  const told = 'another server computes it, and this server may not ask others';
  const reason = `${told}: server-config.json was found in the current folder; name it with --config or LOREKEEP_CONFIG`;
  return new ModelLoadError('UNSUPPORTED', { model, file, reason, told });
}
