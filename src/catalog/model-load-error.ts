import { type ErrorCode, LorekeepError } from '../../lib/errors.js';
import { commandName } from '../schema/shell-word.js';

/** A model of the catalog failed to load. `message` may contain paths on this machine. */
export class ModelLoadError extends LorekeepError {
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

/** `file`: path of the catalog. */
export function notDownloaded(model: string, file: string): ModelLoadError {
  const reason = `it has not been downloaded; run ${commandName()} models pull ${JSON.stringify(model)}`;
  return new ModelLoadError('NOT_FOUND', { model, file, reason });
}
