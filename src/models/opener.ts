import type { LorekeepError } from '../../lib/internal.js';
import type { LocatedVariant } from './catalog.js';
import type { MemoryNeed } from './model-memory.js';
import type { CatalogEntry, Placement } from './schema.js';

/** The device of a model that another server computes. */
export const remoteDevice = 'remote';

/** A loaded model of the library, or one that another server computes. It computes and fails; it never loads itself. */
export interface OwnedModel {
  readonly facts: {
    readonly fingerprint: string;
    /** In tokens; absent for models of speech. */
    readonly contextSize?: number;
    /** Default: the CPU. */
    readonly device?: string;
    readonly dimension?: number;
  };
  /** The failure of its GPU, after which every call fails. */
  readonly lost?: Error | undefined;
  /** Refuses new calls and frees the memory after pending ones. `failing`: ends these, which reject with it. */
  close(failing?: LorekeepError): Promise<void>;
}

/** How one kind of model is loaded. */
export interface Opener<Model extends OwnedModel> {
  readonly entry: CatalogEntry;
  /** Default: chosen by the catalog at each load. */
  readonly located?: LocatedVariant | undefined;
  /** Time without lease or hold, in ms, after which the model is unloaded; 0: never. */
  readonly idleMs: number;
  open(file: LocatedVariant, placement: Placement, signal: AbortSignal): Promise<Model>;
  /** Estimates the memory from the file's header. Called only if there is a budget. */
  need(file: LocatedVariant, placement: Placement): Promise<MemoryNeed>;
  /** Returns the memory that the loaded model takes. Default: `need`. */
  taken?(model: Model, need: MemoryNeed): MemoryNeed;
}
