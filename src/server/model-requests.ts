import { modelBytes } from '../base/files/model-parts.js';
import { nearestName } from '../base/schema/nearest.js';
import type { Sending } from '../fairness/account.js';
import type { Catalog } from '../models/catalog.js';
import { lengthMismatch } from '../models/checked-file.js';
import { type Contradiction, contradictions } from '../models/contradictions.js';
import { expectedDevice } from '../models/expected-device.js';
import { type ModelPulls, PullError, type PullFacts } from '../models/model-pulls.js';
import { remoteDevice } from '../models/opener.js';
import type { LoadedFacts } from '../models/resident.js';
import { type CatalogEntry, isDownload, type ModelVariant } from '../models/schema.js';
import { type ServerError, serverError } from '../protocol/errors.js';
import type { RequestId, ServerFrames } from '../protocol/frames.js';
import type { ModelServices, ReportServices } from './services.js';

type Listed = ServerFrames['ListModelsResponse'];
type ListedModel = Listed['models'][number];

/** Returns the models of the catalog, without paths. Looks at one file after the other: clients may ask without pause, of many models. */
export async function listModels(
  services: ModelServices & Pick<ReportServices, 'config'>,
): Promise<Omit<Listed, 'reply_to'>> {
  const loaded = new Map(services.residency.inMemory.map((each) => [each.name, each]));
  const { catalog, modelMemory, config, backend } = services;
  const models: Listed['models'] = [];
  for (const entry of catalog.entries)
    models.push(await listedModel(catalog, entry, loaded.get(entry.name), backend.device?.name));
  return {
    type: 'ListModelsResponse',
    models,
    memory: modelMemory.use.map(({ device, used, limit }) => ({
      device,
      used: Math.round(used),
      ...(limit !== undefined && { limit: Math.round(limit) }),
    })),
    pulls_allowed: config.allow_model_pulls,
  };
}

async function listedModel(
  catalog: Catalog,
  entry: CatalogEntry,
  loaded: LoadedFacts | undefined,
  gpu: string | undefined,
): Promise<ListedModel> {
  const { variant: chosen, reason } = catalog.locate(entry);
  const variants: ListedModel['variants'] = [];
  for (const variant of entry.variants)
    variants.push({ ...(await listedVariant(catalog, entry, variant, gpu)), chosen: variant === chosen });
  return {
    name: entry.name,
    type: entry.model_type,
    ...(entry.license !== undefined && { license: entry.license }),
    variants,
    chosen_because: reason,
    loaded: loaded !== undefined,
    ...(loaded !== undefined && {
      memory_bytes: Math.round(loaded.bytes),
      device: loaded.device,
      context_size: loaded.contextSize,
    }),
  };
}

async function listedVariant(
  catalog: Catalog,
  entry: CatalogEntry,
  variant: ModelVariant,
  gpu: string | undefined,
): Promise<Omit<ListedModel['variants'][number], 'chosen'>> {
  const { path, present } = catalog.pathOf(variant);
  const state = present ? ('present' as const) : ('absent' as const);
  const named = variant.name !== undefined && { name: variant.name };
  if (variant.remote !== undefined) return { ...named, state, downloadable: false, device: remoteDevice };
  const bytes = present ? modelBytes(path) : variant.size_bytes;
  const device = await expectedDevice(entry.model_type, variant.placement, present ? path : undefined, gpu);
  const differing = present ? await differences(catalog, entry, variant) : [];
  const unusable = differing.find(({ refused }) => refused)?.text;
  return {
    ...named,
    state,
    downloadable: isDownload(variant),
    ...(bytes !== undefined && { size_bytes: bytes }),
    ...(device !== undefined && { device }),
    ...(differing.length > 0 && { contradictions: differing.map(({ text }) => text) }),
    ...(unusable !== undefined && { unusable }),
  };
}

/** Returns the differences between the catalog and a present file, and its damage: another length than is stated. */
async function differences(
  catalog: Catalog,
  entry: CatalogEntry,
  variant: ModelVariant,
): Promise<readonly Contradiction[]> {
  const { path } = catalog.pathOf(variant);
  const differing = await contradictions(path, entry, variant);
  const reason =
    variant.file === undefined
      ? (await catalog.downloads.damage(variant).catch(() => undefined))?.reason
      : lengthMismatch(path, variant);
  return reason === undefined ? differing : [{ text: `file: ${reason}`, refused: true }, ...differing];
}

/** A client's wait for a download. */
export interface PullRequest {
  readonly id: RequestId;
  readonly model: string;
  readonly variant: string | undefined;
}

/** Sends progress to a client. */
export interface PullOutlet {
  send(frame: ServerFrames['PullProgress']): void;
  maySend(signal: AbortSignal): Promise<Sending>;
}

/** Minimum time between two progress events of one request, in ms. */
const progressMs = 200;

/** The downloads that one session waits for. */
export class SessionPulls {
  readonly #pulls: ModelPulls;
  readonly #allowed: boolean;
  readonly #gone: AbortSignal;
  readonly #waiting = new Map<string, Set<AbortController>>();

  constructor(pulls: ModelPulls, allowed: boolean, gone: AbortSignal) {
    this.#pulls = pulls;
    this.#allowed = allowed;
    this.#gone = gone;
  }

  /** Resolves when the model is there. @throws PullRefused, PullFailed, PullCancelled, UnknownModel; SessionEnded */
  async pull(
    { id, model, variant }: PullRequest,
    outlet: PullOutlet,
  ): Promise<Omit<ServerFrames['PullModelResponse'], 'reply_to'>> {
    if (!this.#allowed) {
      const field = 'allow_model_pulls';
      throw serverError(5007, `${field}: this server does not let clients download models`, { field });
    }
    const cancelled = new AbortController();
    const waiting = this.#waiting.get(model) ?? new Set();
    this.#waiting.set(model, waiting.add(cancelled));
    const ended = new AbortController();
    const onProgress = progressSender(id, model, outlet, ended.signal);
    try {
      const found = await this.#pulls.pull(model, variant, {
        gone: this.#gone,
        cancelled: cancelled.signal,
        onProgress,
      });
      return {
        type: 'PullModelResponse',
        model,
        ...(found.variant !== undefined && { variant: found.variant }),
        ...(found.bytes !== undefined && { size_bytes: found.bytes }),
        downloaded: found.downloaded,
      };
    } catch (error) {
      throw error instanceof PullError ? wireError(error, model) : error;
    } finally {
      ended.abort();
      waiting.delete(cancelled);
      if (waiting.size === 0) this.#waiting.delete(model);
    }
  }

  /** Cancels the session's waits for a model. The download ends unless another client waits for it. */
  cancel(model: string): void {
    for (const waiting of this.#waiting.get(model) ?? []) waiting.abort();
  }
}

/** Returns a listener that sends the latest progress, when the client reads and at most every `progressMs`. */
function progressSender(
  id: RequestId,
  model: string,
  { send, maySend }: PullOutlet,
  ended: AbortSignal,
): (facts: PullFacts) => void {
  let latest: PullFacts | undefined;
  let busy = false;
  let last = Number.NEGATIVE_INFINITY;
  const sendLatest = async () => {
    const sending = await maySend(ended);
    try {
      if (latest === undefined || ended.aborted) return;
      const { file, doneBytes, totalBytes } = latest;
      latest = undefined;
      last = performance.now();
      const counts = { done_bytes: doneBytes, total_bytes: totalBytes };
      send({ type: 'PullProgress', request_id: id, model, file, ...counts });
    } finally {
      sending.end();
    }
  };
  return (facts) => {
    latest = facts;
    const due = facts.doneBytes === facts.totalBytes || performance.now() - last >= progressMs;
    if (busy || !due) return;
    busy = true;
    sendLatest()
      .catch(() => {})
      .finally(() => {
        busy = false;
      });
  };
}

function wireError(error: PullError, model: string): ServerError {
  const { why, message, facts } = error;
  const path = 'model';
  const cause = { cause: error };
  switch (why) {
    case 'unknown': {
      const known = facts.known as string[];
      const nearest = nearestName(model, known);
      return serverError(5010, `${path}: ${message}`, { path, known, nearest }, cause);
    }
    case 'nothing to pull':
      return serverError(5010, `${path}: ${message}`, { path }, cause);
    case 'quota':
      return serverError(5007, message, { model, field: 'models_download_max_mb', ...facts }, cause);
    case 'cancelled':
      return serverError(5009, `the download of ${JSON.stringify(model)} was cancelled`, { model }, cause);
    case 'stopping':
      return serverError(1008, message, {}, cause);
    case 'failed':
      return serverError(5008, `model ${JSON.stringify(model)}: ${message}`, { model }, cause);
  }
}
