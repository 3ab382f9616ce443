import { type ErrorCode, LorekeepError } from '../../lib/errors.js';

/** Why a model of the catalog cannot be had. `message` may name files of the machine. */
export class ModelLoadError extends LorekeepError {
  /** The model's name. */
  readonly model: string;
  /** In one word: the code, or CHANGED for a file that is another one than before. */
  readonly why: ErrorCode | 'CHANGED';
  /** What may be told to whom files of the machine are no business of. */
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
  /** The catalog's path. */
  file: string;
  reason: string;
  /** The reason without paths, where they differ. */
  told?: string;
  why?: 'CHANGED';
}
