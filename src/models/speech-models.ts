import { SpeechRecogniser, VoiceDetector } from '../../lib/internal.js';
import type { Lease } from './lease.js';
import { recogniserNeed } from './model-need.js';
import type { Opener, OwnedModel } from './opener.js';
import type { Residency } from './residency.js';
import type { Resident } from './resident.js';
import type { CatalogEntry } from './schema.js';
import { findModel } from './unknown-model.js';

export interface SpeechModelsOptions {
  /** Threads of a recogniser; 0: all that the process may use, at most 8. */
  threads: number;
  /** How long an unused model stays in memory, in ms; 0: until close(). */
  idleMs: number;
  /** Loads a recogniser. Default: SpeechRecogniser.load(); tests replace it. */
  load?: typeof SpeechRecogniser.load | undefined;
}

/** A model of the catalog, loaded for its first lease. */
export interface CatalogSpeechModel<Model> {
  /** Catalog name. */
  readonly name: string;
  /** The entry of the catalog. */
  readonly entry: CatalogEntry;
  /** @throws ModelLoadError; the signal's reason */
  lease(signal?: AbortSignal): Promise<Lease<Model>>;
}

/** The models of a catalog that detect voice and recognise speech. Each is loaded at its first use and shared. */
export class SpeechModels {
  readonly #residency: Residency;
  readonly #options: SpeechModelsOptions;
  readonly #residents = new Map<string, Resident>();

  constructor(residency: Residency, options: SpeechModelsOptions) {
    this.#residency = residency;
    this.#options = options;
  }

  /** Returns a model that detects voice, by name, or the first. @throws UnknownModelError */
  detector(name: string | undefined): CatalogSpeechModel<VoiceDetector> {
    const entry = findModel(this.#residency.catalog, 'vad', name);
    return this.#model(entry, {
      open: ({ path }, _, signal) => VoiceDetector.load(path, { signal }),
      // Its two MB are not counted: a stream holds it as long as it is open, and no other model must wait for that.
      need: async () => ({}),
    });
  }

  /**
   * Returns a model that recognises speech, by name, or the first. `entry`: instead of the catalog's.
   * @throws UnknownModelError
   */
  recogniser(name: string | undefined, entry?: CatalogEntry): CatalogSpeechModel<SpeechRecogniser> {
    const { threads, load = SpeechRecogniser.load.bind(SpeechRecogniser) } = this.#options;
    return this.#model(entry ?? findModel(this.#residency.catalog, 'stt', name), {
      open: ({ path }, placement, signal) => load(path, { threads, signal, gpu: placement !== 'ram' }),
      need: ({ path }) => recogniserNeed(path),
    });
  }

  #model<Model extends OwnedModel>(
    entry: CatalogEntry,
    kind: Pick<Opener<Model>, 'open' | 'need'>,
  ): CatalogSpeechModel<Model> {
    return { name: entry.name, entry, lease: (signal) => this.#resident(entry, kind).lease(signal) };
  }

  #resident<Model extends OwnedModel>(
    entry: CatalogEntry,
    kind: Pick<Opener<Model>, 'open' | 'need'>,
  ): Resident<Model> {
    const known = this.#residents.get(entry.name);
    // The map holds one kind per name: the catalog's names are unique.
    if (known?.isUsed) return known as unknown as Resident<Model>;
    const resident = this.#residency.resident<Model>({ entry, idleMs: this.#options.idleMs, ...kind });
    this.#residents.set(entry.name, resident as unknown as Resident);
    return resident;
  }
}
