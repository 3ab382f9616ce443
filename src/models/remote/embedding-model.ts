import { createHash } from 'node:crypto';
import type {
  EmbedResult,
  ItemError,
  LorekeepError,
  ModelFacts,
  ProgressOptions,
} from '../../../lib/internal.js';
import { workContext } from '../../base/waiting/work-context.js';
import { remoteDevice } from '../opener.js';
import { countOf, objectOf } from './answer.js';
import { elsewhere } from './elsewhere.js';
import { RemoteModelError } from './remote-model-error.js';
import type { RemoteServer } from './remote-server.js';
import { estimatedTokens } from './token-estimate.js';

/** Texts whose embeddings tell a model from another one. */
const probes = ['The lighthouse keeper counts the ships.', 'protein folding in 1972'] as const;
/** The same model gives vectors of at least this cosine, whatever the device and the batch; another one does not. */
const leastCosine = 0.98;
/** The probes themselves have at most this cosine in any embedding model. */
const mostAlike = 0.9999;
/** A model in use is probed again after this time. */
const probeEveryMs = 60_000;

/** Longest number in JSON, with its comma and space. */
const bytesPerNumber = 32;
const bytesPerRow = 4096;
/** Numbers of one answer: parsing them holds the event loop for some 10 ms. */
const maxNumbers = 65_536;
/** Largest dimension of an index. */
const maxDimension = 65_536;

/** The vectors by which a model is known again; none before its server has answered. */
export interface ModelProbe {
  /** Those of the probes, one after the other. */
  rows?: Float32Array | undefined;
  /** Whether this process has embeddings of documents by that model. */
  isUsed?: boolean;
}

export interface RemoteEmbeddingOptions {
  /** Longest text in tokens, as the operator states it. */
  contextSize: number;
  /** Shared by all openings of the model in this process. */
  probe?: ModelProbe | undefined;
  /** Dimension of stored vectors of the model. */
  dimension?: number | undefined;
  signal: AbortSignal;
}

interface Batch {
  readonly begin: number;
  readonly texts: readonly string[];
}

/** An embedding model that another server computes. Calls may overlap. */
export class RemoteEmbeddingModel {
  readonly facts: ModelFacts;
  readonly #server: RemoteServer;
  readonly #probe: ModelProbe;
  #probed: number;

  /** `probed`: when the server was asked last. */
  private constructor(
    server: RemoteServer,
    dimension: number,
    { contextSize, probe = {} }: RemoteEmbeddingOptions,
    probed: number,
  ) {
    const { model, revision = '', api } = server.settings;
    const identity = JSON.stringify(['remote', model, revision, dimension]);
    this.#server = server;
    this.#probe = probe;
    this.#probed = probed;
    this.facts = {
      name: model,
      architecture: 'remote',
      dimension,
      contextSize,
      trainingContext: contextSize,
      pooling: 'remote',
      parameters: 0,
      sizeBytes: 0,
      // Vectors differ in their last digits between devices: the name stands for them, and the probe is compared.
      fingerprint: createHash('sha256').update(identity).digest('hex').slice(0, 16),
      candidates: [],
      runtime: api,
      batchTokens: 0,
      measured: false,
      device: remoteDevice,
    };
  }

  /**
   * Asks the server for the dimension. If that is known, asks nothing: the first embedding probes the server.
   * @throws RemoteModelError
   */
  static async open(server: RemoteServer, options: RemoteEmbeddingOptions): Promise<RemoteEmbeddingModel> {
    const { probe = {}, signal } = options;
    const known = probe.rows === undefined ? options.dimension : probe.rows.length / probes.length;
    if (known !== undefined)
      return new RemoteEmbeddingModel(server, known, options, Number.NEGATIVE_INFINITY);
    probe.rows = await probeRows(server, undefined, signal);
    return new RemoteEmbeddingModel(server, probe.rows.length / probes.length, options, performance.now());
  }

  get dimension(): number {
    return this.facts.dimension;
  }

  /** As EmbeddingModel.embedSettled(). @throws RemoteModelError, CLOSED, CANCELLED; the signal's reason */
  async embedSettled(
    texts: readonly string[],
    { signal, onProgress, kind }: ProgressOptions & { kind?: 'query' | 'document' } = {},
  ): Promise<EmbedResult> {
    if (kind !== 'query') this.#probe.isUsed = true;
    const vectors = new Float32Array(texts.length * this.dimension);
    const errors: ItemError[] = [];
    const batches = this.#batches(texts);
    const stop = new AbortController();
    const ends = signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]);
    let tokens = 0;
    let done = 0;
    let next = 0;
    const work = async () => {
      for (let batch = batches[next++]; batch !== undefined; batch = batches[next++]) {
        tokens += await this.#embed(batch, vectors, errors, ends);
        done += batch.texts.length;
        onProgress?.(done / texts.length);
      }
    };
    // The requests of one client follow each other: its share of the server is for all that it asks.
    const atOnce = workContext()?.away === undefined ? this.#server.parallel : 1;
    const workers = Array.from({ length: Math.min(atOnce, batches.length) }, () =>
      work().catch((error: unknown) => {
        stop.abort(error);
        throw error;
      }),
    );
    await Promise.allSettled(workers);
    if (stop.signal.aborted) throw signal?.aborted ? signal.reason : stop.signal.reason;
    errors.sort((a, b) => a.index - b.index);
    return { vectors, errors, tokens, batches: batches.length };
  }

  /** The server computes another model than stored vectors are of. If nothing was made with it, the next one may be theirs. */
  disown(): void {
    if (this.#probe.isUsed !== true) this.#probe.rows = undefined;
  }

  close(failing?: LorekeepError): Promise<void> {
    return this.#server.close(failing);
  }

  #batches(texts: readonly string[]): Batch[] {
    const { batch_texts, batch_bytes } = this.#server.settings;
    const most = Math.max(1, Math.min(batch_texts, Math.floor(maxNumbers / this.dimension)));
    const batches: Batch[] = [];
    for (let begin = 0; begin < texts.length; ) {
      let end = begin;
      for (let bytes = 0; end < texts.length && end - begin < most; end++) {
        bytes += Buffer.byteLength(texts[end] as string);
        if (end > begin && bytes > batch_bytes) break;
      }
      batches.push({ begin, texts: texts.slice(begin, end) });
      begin = end;
    }
    return batches;
  }

  /** Fills the rows of a batch; halves it to find the texts that are too long. Returns the number of tokens. */
  async #embed(
    batch: Batch,
    vectors: Float32Array,
    errors: ItemError[],
    signal: AbortSignal,
  ): Promise<number> {
    const { begin, texts } = batch;
    const { dimension } = this;
    try {
      await this.#probeAgain(signal);
      const call = () => request(this.#server, texts, dimension, signal);
      const { rows, tokens } = await elsewhere(this.#server, signal, call);
      vectors.set(rows, begin * dimension);
      return tokens;
    } catch (error) {
      if (!(error instanceof RemoteModelError) || error.kind !== 'too-long') throw error;
      if (texts.length === 1) {
        const { contextSize: limit } = this.facts;
        const message = `the text is too long for the model (a context of ${limit} tokens)`;
        const tokens = Math.max(limit + 1, estimatedTokens(texts[0] as string));
        errors.push({ index: begin, code: 'TEXT_TOO_LONG', message, tokens, limit });
        return 0;
      }
      const half = texts.length >> 1;
      const first = { begin, texts: texts.slice(0, half) };
      const second = { begin: begin + half, texts: texts.slice(half) };
      return (
        (await this.#embed(first, vectors, errors, signal)) +
        (await this.#embed(second, vectors, errors, signal))
      );
    }
  }

  /** The server may have got another model since the last probe. */
  async #probeAgain(signal: AbortSignal): Promise<void> {
    const now = performance.now();
    if (this.#probe.rows !== undefined && now - this.#probed < probeEveryMs) return;
    // Calls beside a probe do not wait for it, unless it is the first.
    if (this.#probe.rows !== undefined && this.#probed !== Number.NEGATIVE_INFINITY) this.#probed = now;
    const call = () => probeRows(this.#server, this.dimension, signal);
    try {
      const rows = await elsewhere(this.#server, signal, call);
      if (this.#probe.rows === undefined) this.#probe.rows = rows;
      else requireSame(rows, this.#probe.rows, this.#server);
      this.#probed = now;
    } catch (error) {
      this.#probed = Number.NEGATIVE_INFINITY;
      throw error;
    }
  }
}

/** Embeds the probes. @throws as request() */
async function probeRows(
  server: RemoteServer,
  dimension: number | undefined,
  signal: AbortSignal,
): Promise<Float32Array> {
  const { rows } = await request(server, probes, dimension, signal);
  const half = rows.length / probes.length;
  if (cosine(rows.subarray(0, half), rows.subarray(half)) <= mostAlike) return rows;
  throw new RemoteModelError(
    'malformed',
    server,
    'embeds different texts alike: it is not an embedding model',
  );
}

/** Embeds texts in one request. `dimension`: undefined if it is not known yet. @throws RemoteModelError; the signal's reason */
async function request(
  server: RemoteServer,
  texts: readonly string[],
  dimension: number | undefined,
  signal: AbortSignal,
): Promise<{ rows: Float32Array; tokens: number }> {
  const body = { model: server.settings.model, input: texts, encoding_format: 'float' };
  const maxBytes = texts.length * ((dimension ?? maxDimension) * bytesPerNumber + bytesPerRow) + bytesPerRow;
  const answer = objectOf(await server.post('/embeddings', body, { maxBytes, signal }));
  const { data } = answer;
  const malformed = (problem: string) => new RemoteModelError('malformed', server, `answers ${problem}`);
  if (!Array.isArray(data)) throw malformed('without a list "data" of embeddings; correct remote.url');
  if (data.length !== texts.length)
    throw malformed(`with ${data.length} embeddings for ${texts.length} texts`);
  const found = objectOf(data[0]).embedding;
  const width = dimension ?? (Array.isArray(found) ? found.length : 0);
  if (width < 1 || width > maxDimension) throw malformed('with an embedding that is not a list of numbers');
  const rows = new Float32Array(texts.length * width);
  const seen = new Set<number>();
  for (const [position, item] of data.entries()) {
    const { index = position, embedding } = objectOf(item);
    if (!Number.isInteger(index) || (index as number) < 0 || (index as number) >= texts.length)
      throw malformed('with the index of a text that it was not given');
    if (seen.has(index as number)) throw malformed('with two embeddings of one text');
    seen.add(index as number);
    if (!Array.isArray(embedding)) throw malformed('with an embedding that is not a list of numbers');
    if (embedding.length !== width) {
      const problem = `answers with embeddings of ${embedding.length} numbers instead of ${width}; correct remote.model`;
      throw new RemoteModelError('dimension', server, problem);
    }
    if (!normalise(embedding, rows.subarray((index as number) * width, ((index as number) + 1) * width)))
      throw malformed('with an embedding that has no direction, or a value that is not a finite number');
  }
  return { rows, tokens: countOf(objectOf(answer.usage).prompt_tokens) };
}

/** Writes an embedding with the length 1. Returns false if it has none. */
function normalise(embedding: readonly unknown[], row: Float32Array): boolean {
  let sum = 0;
  for (const value of embedding) {
    if (typeof value !== 'number') return false;
    sum += value * value;
  }
  const length = Math.sqrt(sum);
  if (!(length > 0) || length === Number.POSITIVE_INFINITY) return false;
  for (let at = 0; at < row.length; at++) row[at] = (embedding[at] as number) / length;
  return true;
}

/** @throws RemoteModelError if rows of probes are not of one model */
function requireSame(rows: Float32Array, known: Float32Array, server: RemoteServer): void {
  const dimension = rows.length / probes.length;
  for (const probe of probes.keys()) {
    const part = (all: Float32Array) => all.subarray(probe * dimension, (probe + 1) * dimension);
    if (rows.length === known.length && cosine(part(rows), part(known)) >= leastCosine) continue;
    const fix = 'give it back the earlier one, or change remote.revision and start again';
    throw new RemoteModelError('changed', server, `computes another model than before; ${fix}`);
  }
}

/** Of vectors with the length 1. */
const cosine = (a: Float32Array, b: Float32Array): number =>
  a.reduce((sum, value, at) => sum + value * (b[at] as number), 0);
