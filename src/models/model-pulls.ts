import { LorekeepError, onAbort } from '../../lib/basics.js';
import { untilAborted } from '../base/waiting/until-aborted.js';
import type { Catalog } from './catalog.js';
import { contradictions } from './contradictions.js';
import type { ModelDownloads } from './downloads/model-downloads.js';
import { loadHttpClient } from './downloads/request.js';
import { type CatalogEntry, isDownload, type ModelVariant } from './schema.js';

export interface ModelPullsOptions {
  /** Bytes that downloads may take together; 0: as the disk allows. */
  maxBytes: number;
  log: { info(facts: object, message: string): void; warn(facts: object, message: string): void };
  /** Called when a download begins; the result when it has ended. */
  hold(): () => void;
  /** For tests. */
  environment?: NodeJS.ProcessEnv;
}

export interface PullFacts {
  /** Name of the file in the folder of downloads. */
  file: string;
  doneBytes: number;
  totalBytes: number;
}

export interface PulledModel {
  variant: string | undefined;
  bytes: number | undefined;
  /** False: it was there already. */
  downloaded: boolean;
}

/** Who waits for a download. */
export interface PullWaiter {
  /** Aborted when no request waits any more; the download continues. */
  gone: AbortSignal;
  /** Aborted to cancel; the download ends with its last waiter. */
  cancelled: AbortSignal;
  onProgress(facts: PullFacts): void;
}

/** Why a download ended without its file: the protocol names each. */
export class PullError extends Error {
  override readonly name = 'PullError';
  readonly why: 'unknown' | 'nothing to pull' | 'quota' | 'failed' | 'cancelled' | 'stopping';
  readonly facts: Readonly<Record<string, unknown>>;

  constructor(why: PullError['why'], message: string, facts: object = {}, options?: ErrorOptions) {
    super(message, options);
    this.why = why;
    this.facts = { ...facts };
  }
}

interface Download {
  readonly stop: AbortController;
  readonly listeners: Set<(facts: PullFacts) => void>;
  readonly ended: Promise<void>;
  waiters: number;
}

/** Downloads models of the catalog for clients: each file once, whoever waits for it. */
export class ModelPulls {
  readonly #catalog: Catalog;
  readonly #options: ModelPullsOptions;
  /** By path of the file. */
  readonly #downloads = new Map<string, Download>();
  #stopping = false;

  constructor(catalog: Catalog, options: ModelPullsOptions) {
    this.#catalog = catalog;
    this.#options = options;
  }

  /** Loads what the first download needs: loading it later would hold the event loop for 60 ms. */
  prepare(): Promise<void> {
    return loadHttpClient();
  }

  /** Number of downloads under way. */
  get running(): number {
    return this.#downloads.size;
  }

  /** Downloads a variant, or the first that suits this machine. @throws PullError; the reason of `gone` */
  async pull(model: string, variantName: string | undefined, waiter: PullWaiter): Promise<PulledModel> {
    if (this.#stopping) throw new PullError('stopping', 'the server is stopping');
    const { entry, variant } = this.#find(model, variantName);
    const { downloads } = this.#catalog;
    const outcome = { variant: variant.name, bytes: variant.size_bytes };
    // A download refuses damaged files.
    if (downloads.has(variant) && (await isIntact(downloads, variant)))
      return { ...outcome, downloaded: false };
    const path = downloads.path(variant);
    let download = this.#downloads.get(path);
    // One that was cancelled is not joined.
    while (download?.stop.signal.aborted) {
      await untilAborted(
        download.ended.catch(() => {}),
        waiter.gone,
      );
      download = this.#downloads.get(path);
    }
    download ??= this.#start(entry, variant, path);
    await this.#wait(download, waiter);
    return { ...outcome, downloaded: true };
  }

  /** Ends all downloads, and refuses others; their parts stay for the next time. */
  async stop(): Promise<void> {
    this.#stopping = true;
    const running = [...this.#downloads.values()];
    for (const { stop } of running) stop.abort(new PullError('stopping', 'the server is stopping'));
    await Promise.allSettled(running.map(({ ended }) => ended));
  }

  #find(model: string, name: string | undefined): { entry: CatalogEntry; variant: ModelVariant } {
    const entry = this.#catalog.find(model);
    if (entry === undefined) {
      const known = this.#catalog.entries.map((each) => each.name);
      throw new PullError('unknown', `there is no model ${JSON.stringify(model.slice(0, 128))}`, { known });
    }
    const variant = this.#catalog.downloadable(entry, name);
    if (variant !== undefined) return { entry, variant };
    throw new PullError('nothing to pull', nothingToPull(entry, name), { model });
  }

  #start(entry: CatalogEntry, variant: ModelVariant, path: string): Download {
    const stop = new AbortController();
    const listeners: Download['listeners'] = new Set();
    const ended = this.#run(entry, variant, stop, listeners).finally(() => this.#downloads.delete(path));
    ended.catch(() => {});
    const download: Download = { stop, listeners, ended, waiters: 0 };
    this.#downloads.set(path, download);
    return download;
  }

  async #run(
    entry: CatalogEntry,
    variant: ModelVariant,
    stop: AbortController,
    listeners: Download['listeners'],
  ): Promise<void> {
    const { log, hold, environment } = this.#options;
    const { name: model } = entry;
    const { signal } = stop;
    const letGo = hold();
    const started = performance.now();
    log.info({ model, variant: variant.name }, 'download started');
    try {
      let allowed = await this.#allowance(variant);
      const totals = new Map<string, number>();
      const path = await this.#catalog.downloads.pull(variant, {
        signal,
        // Downloads take turns: by now, others may have used the allowance.
        onTurn: async () => {
          allowed = await this.#allowance(variant);
        },
        ...(environment && { environment }),
        onProgress: ({ file, done, total }) => {
          totals.set(file, total);
          const bytes = [...totals.values()].reduce((sum, each) => sum + each, 0);
          if (bytes > allowed) stop.abort(quotaError(bytes, allowed));
          for (const tell of listeners) tell({ file, doneBytes: done, totalBytes: total });
        },
        onNote: (note) => log.info({ model, note }, 'download'),
      });
      log.info({ model, ms: Math.round(performance.now() - started) }, 'download finished');
      const differing = await contradictions(path, entry, variant).catch(() => []);
      if (differing.length > 0)
        log.warn(
          { model, contradictions: differing.map(({ text }) => text) },
          'the download differs from its catalog entry',
        );
    } catch (error) {
      const failure = pullFailure(signal.aborted ? signal.reason : error);
      log.warn(
        { model, err: failure.why === 'failed' ? error : undefined, why: failure.why },
        'download ended',
      );
      throw failure;
    } finally {
      letGo();
    }
  }

  /** Returns the bytes that a download may have. @throws PullError if the variant is too long */
  async #allowance(variant: ModelVariant): Promise<number> {
    const { maxBytes } = this.#options;
    if (maxBytes === 0) return Number.POSITIVE_INFINITY;
    // Parts that cancelled downloads left count, too: else each cancelled download would add one.
    const allowed = Math.max(0, maxBytes - (await this.#catalog.downloads.bytesBeside(variant)));
    const bytes = variant.size_bytes ?? 0;
    if (bytes > allowed) throw quotaError(bytes, allowed);
    return allowed;
  }

  async #wait(download: Download, { gone, cancelled, onProgress }: PullWaiter): Promise<void> {
    download.waiters++;
    download.listeners.add(onProgress);
    let left = false;
    const leave = (cancels: boolean) => {
      if (left) return;
      left = true;
      download.waiters--;
      download.listeners.delete(onProgress);
      if (cancels && download.waiters === 0) download.stop.abort(new PullError('cancelled', 'cancelled'));
    };
    const stopListening: (() => void)[] = [];
    const interrupted = new Promise<never>((_, reject) => {
      const cancel = () => {
        leave(true);
        reject(new PullError('cancelled', 'the download was cancelled'));
      };
      const go = () => {
        leave(false);
        reject(gone.reason);
      };
      if (cancelled.aborted) return cancel();
      if (gone.aborted) return go();
      stopListening.push(onAbort(cancelled, cancel), onAbort(gone, go));
    });
    try {
      await Promise.race([download.ended, interrupted]);
    } finally {
      leave(false);
      for (const stop of stopListening) stop();
    }
  }
}

/** Also false if downloads.json cannot be read. */
async function isIntact(downloads: ModelDownloads, variant: ModelVariant): Promise<boolean> {
  const damage = await downloads.damage(variant).catch((error: unknown) => error);
  return damage === undefined;
}

function quotaError(bytes: number, allowed: number): PullError {
  const message = `the file has ${bytes} bytes, and models_download_max_mb leaves ${allowed}`;
  return new PullError('quota', message, { bytes, allowed });
}

/** The reason of a LorekeepError has no path and no query of an address. */
function pullFailure(error: unknown): PullError {
  if (error instanceof PullError) return error;
  const reason =
    error instanceof LorekeepError ? String(error.detail.reason ?? error.code) : 'an internal error';
  return new PullError('failed', reason, {}, { cause: error });
}

/** Why an entry has no variant to download. */
export function nothingToPull({ name, variants }: CatalogEntry, variant: string | undefined): string {
  const remote = variants.filter(isDownload);
  const model = `model ${JSON.stringify(name)}`;
  if (remote.length === 0) return `${model} has no variant with "url" or "hf"`;
  const names = remote.map((each) => JSON.stringify(each.name ?? '-')).join(', ');
  return `${model} has no downloadable variant ${JSON.stringify(variant)}; it has ${names}`;
}
