import { onAbort } from '../../lib/basics.js';
import {
  type ChatMessage,
  type GenerateRequest,
  type Generation,
  type GenerationResult,
  type LanguageModelNumbers,
  LorekeepError,
  type Piece,
  type PrefixPart,
  type RenderedPrompt,
  type RenderOptions,
} from '../../lib/internal.js';
import type { ModelLog } from './open-model.js';
import type { ModelVariant } from './schema.js';
import type { TextModel } from './text-model.js';

export type Placement = NonNullable<ModelVariant['placement']>;

/** After this many failures of its GPU, a model stays on the CPU. */
const maxLosses = 2;

export interface PlacedModelOptions {
  readonly name: string;
  /** The catalog's placement. */
  readonly placement: Placement;
  readonly load: (placement: Placement, signal: AbortSignal) => Promise<TextModel>;
  /**
   * Waits for room before the model is loaded again; the result is called after the load. Default: does not wait.
   * @throws ModelTooLargeError; the signal's reason
   */
  readonly room?: (placement: Placement, signal: AbortSignal) => Promise<() => void>;
  readonly log: ModelLog;
  readonly onClose?: () => void;
  /** Called when the model has left memory, and when it has been loaded again. */
  readonly onMove?: () => void;
}

/**
 * A language model that can leave its GPU. If the GPU fails, or its memory is needed, running requests fail with
 * DEVICE_LOST, and the next one loads the model again: onto the GPU, else the CPU. Its users keep this object.
 */
export class PlacedModel implements TextModel {
  readonly #options: PlacedModelOptions;
  readonly #running = new Set<AbortController>();
  #facts: TextModel['facts'];
  #loaded: Promise<TextModel> | undefined;
  #closing: Promise<void> = Promise.resolve();
  readonly #lost = new WeakSet<TextModel>();
  #losses = 0;
  /** Ends the wait for room and the load. */
  #waiting = new AbortController();
  #gpuAllowed = true;
  /** Whether the model is on the CPU because it had to leave the GPU. */
  #movedAway = false;
  #isInMemory = true;
  #wantsReturn = false;
  #ended = false;

  constructor(model: TextModel, options: PlacedModelOptions) {
    this.#options = options;
    this.#facts = model.facts;
    this.#loaded = Promise.resolve(model);
  }

  /** Facts of the model, or of the last one, if it is not in memory. */
  get facts(): TextModel['facts'] {
    return this.#facts;
  }

  /** False between the time at which it leaves its GPU and its next request. */
  get isInMemory(): boolean {
    return this.#isInMemory;
  }

  async countTokens(text: string): Promise<number> {
    return (await this.#current()).countTokens(text);
  }

  /** Does not load a model that has left memory. */
  async numbers(): Promise<LanguageModelNumbers> {
    const model = await this.#loaded;
    if (model?.numbers === undefined) throw new Error(`model ${this.#options.name} has no numbers`);
    return model.numbers();
  }

  async prefixes(): Promise<PrefixPart[]> {
    const model = await this.#loaded;
    return (await model?.prefixes?.()) ?? [];
  }

  async render(messages: readonly ChatMessage[], options?: RenderOptions): Promise<RenderedPrompt> {
    return (await this.#current()).render(messages, options);
  }

  generate(request: GenerateRequest, { signal }: { signal?: AbortSignal } = {}): Generation {
    const stop = new AbortController();
    this.#running.add(stop);
    const unlink = onAbort(signal, () => stop.abort(signal?.reason));
    if (signal?.aborted) stop.abort(signal.reason);
    const started = this.#start(request, stop.signal);
    const result = started
      .then(({ generation }) => generation.result)
      .then((found) => this.#unlessStopped(found, stop.signal))
      .catch(async (error: unknown) => {
        // First, so that the caller's next request does not meet the lost GPU.
        await this.#noticeLoss(started, error);
        throw error;
      })
      .finally(() => {
        unlink();
        this.#running.delete(stop);
      });
    result.catch(() => {}); // readers of the pieces get it, too
    return {
      result,
      cancel: () => {
        started.then(({ generation }) => generation.cancel()).catch(() => {});
      },
      [Symbol.asyncIterator]: () => pieces(started, result),
    };
  }

  /** Frees the memory of the GPU. Running requests fail with DEVICE_LOST. The next one loads the model on the CPU. */
  async leaveGpu(): Promise<void> {
    this.#gpuAllowed = false;
    if (this.#movedAway) return this.#closing;
    for (const stop of this.#running) stop.abort(new Released());
    this.#waiting.abort(new Released().error(this.#options.name));
    return this.#drop();
  }

  /** Lets the next request after the running ones load the model on the GPU again. */
  returnToGpu(): void {
    this.#gpuAllowed = true;
    this.#wantsReturn = this.#options.placement !== 'ram';
  }

  async close(): Promise<void> {
    this.#ended = true;
    this.#options.onClose?.();
    this.#waiting.abort(this.#closed());
    await this.#drop();
  }

  async #start(
    request: GenerateRequest,
    signal: AbortSignal,
  ): Promise<{ model: TextModel; generation: Generation }> {
    const model = await this.#current();
    if (signal.reason instanceof Released) throw signal.reason.error(this.#options.name);
    return { model, generation: model.generate(request, { signal }) };
  }

  /** Returns the loaded model, loading it if necessary. After a failed load, the next call tries again. */
  #current(): Promise<TextModel> {
    if (this.#wantsReturn && this.#running.size <= 1) {
      this.#wantsReturn = false;
      if (this.#movedAway) void this.#drop();
    }
    if (this.#loaded !== undefined) return this.#loaded;
    const loading = this.#reload();
    this.#loaded = loading;
    loading.catch(() => {
      if (this.#loaded === loading) this.#loaded = undefined;
    });
    return loading;
  }

  async #reload(): Promise<TextModel> {
    const { name, log, placement } = this.#options;
    this.#movedAway = false;
    await this.#closing;
    if (this.#ended) throw this.#closed();
    const wanted = this.#gpuAllowed && this.#losses < maxLosses ? placement : 'ram';
    this.#waiting = new AbortController();
    const { signal } = this.#waiting;
    const model = await this.#loadAt(wanted, signal).catch((error: unknown) => {
      signal.throwIfAborted();
      if (wanted === 'ram') throw error;
      this.#losses = maxLosses;
      log.error({ model: name, err: error }, 'model not loaded on the GPU again: it moves to the CPU');
      return this.#loadAt('ram', signal);
    });
    if (this.#ended) await model.close();
    log.info({ model: name, device: model.facts.device }, 'model loaded again');
    return model;
  }

  async #loadAt(placement: Placement, signal: AbortSignal): Promise<TextModel> {
    const { load, room, onMove } = this.#options;
    const loaded = await room?.(placement, signal);
    try {
      const model = await load(placement, signal);
      this.#movedAway = model.facts.device === 'CPU';
      this.#facts = model.facts;
      this.#isInMemory = true;
      return model;
    } finally {
      loaded?.();
      onMove?.();
    }
  }

  #closed(): LorekeepError {
    return new LorekeepError('CLOSED', `model ${this.#options.name}: used after close()`);
  }

  #drop(): Promise<void> {
    const model = this.#loaded;
    this.#loaded = undefined;
    if (model === undefined) return this.#closing;
    const before = this.#closing;
    this.#closing = (async () => {
      await before;
      await (await model.catch(() => undefined))?.close();
      this.#isInMemory = false;
      this.#options.onMove?.();
    })();
    return this.#closing;
  }

  #unlessStopped(result: GenerationResult, signal: AbortSignal): GenerationResult {
    if (signal.reason instanceof Released) throw signal.reason.error(this.#options.name);
    return result;
  }

  async #noticeLoss(started: Promise<{ model: TextModel }>, error: unknown): Promise<void> {
    if (!(error instanceof LorekeepError) || error.code !== 'DEVICE_LOST' || error.detail.released) return;
    const model = (await started.catch(() => undefined))?.model;
    // Requests that fail together are one loss.
    if (model === undefined || this.#lost.has(model)) return;
    this.#lost.add(model);
    this.#losses++;
    const { name, log } = this.#options;
    log.error({ model: name, err: error }, 'GPU lost: the model is loaded again');
    void this.#drop(); // waits for its requests, and so for this one
  }
}

/** The reason to abort requests whose GPU memory is needed. */
class Released {
  error(model: string): LorekeepError {
    const message = `model ${model} left the GPU because its memory was needed`;
    return new LorekeepError('DEVICE_LOST', message, { released: true });
  }
}

async function* pieces(
  started: Promise<{ generation: Generation }>,
  result: Promise<unknown>,
): AsyncGenerator<Piece> {
  try {
    yield* (await started).generation;
  } catch (error) {
    await result; // rejects, after a loss is noticed
    throw error;
  }
}
