import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { backoffMs } from '../../base/waiting/backoff.js';
import { batchUrl, type SinkConfig } from './consent.js';
import { droppedEvent, type EventSource, type TelemetryEvent } from './events.js';

/** A request without an answer is given up and repeated. */
const requestMs = 10_000;
const firstBackoffMs = 1000;
/** Shortest first wait that a server may ask for. It doubles with every repeat, so that 0 is no loop. */
const shortestRetryAfterMs = 10;
const longestBackoffMs = 60_000;
/** Longest wait that a server may ask for. */
const longestRetryAfterMs = 300_000;

const compress = promisify(gzip);

/** Number of lost events by reason. */
export interface Dropped {
  /** Oldest events of a full queue. */
  queue_full: number;
  /** Refused by the server. */
  refused: number;
  /** Not sent before the end of the process. */
  unsent: number;
}

/** Headers and body of one request, before compression. */
export function batchPayload(config: SinkConfig, batch: readonly TelemetryEvent[], sentAt: Date): object {
  return { api_key: config.project_api_key, batch, sent_at: sentAt.toISOString() };
}

export interface SinkOptions {
  config: SinkConfig;
  source: EventSource;
  /** Reports the first failure after a success, without the key. */
  onProblem(message: string): void;
}

/**
 * Sends events in batches to one ingest server, one request at a time. A full queue drops its oldest events. 429, 5xx and
 * lost connections are repeated with increasing delays, 413 halves the batch, after which batches grow again by one event each,
 * and every other refusal drops it.
 */
export class Sink {
  readonly dropped: Dropped = { queue_full: 0, refused: 0, unsent: 0 };
  readonly #config: SinkConfig;
  readonly #url: URL;
  readonly #source: EventSource;
  readonly #onProblem: (message: string) => void;
  readonly #queue: TelemetryEvent[] = [];
  /** Aborted by close(): waiting events are sent immediately. */
  readonly #closes = new AbortController();
  /** Aborted when close() may take no longer. */
  readonly #ending = new AbortController();
  /** The batch that is being sent or waits to be sent again. */
  #sending: TelemetryEvent[] = [];
  /** Number of its first events that a request contains now. The server may accept them, so they cannot be dropped. */
  #inFlight = 0;
  #largestBatch: number;
  #timer: NodeJS.Timeout | undefined;
  #work: Promise<void> | undefined;
  #reported = 0;
  #failing = false;
  #closing = false;

  /** Precondition: whySilent(config) is undefined. */
  constructor({ config, source, onProblem }: SinkOptions) {
    this.#config = config;
    this.#url = batchUrl(config.endpoint) as URL;
    this.#source = source;
    this.#onProblem = onProblem;
    this.#largestBatch = Math.min(config.batch_max_records, config.queue_capacity);
  }

  /** Queues an event. Never waits and never throws. */
  add(event: TelemetryEvent): void {
    if (this.#closing) {
      this.dropped.unsent++;
      return;
    }
    this.#queue.push(event);
    this.#dropOldest();
    if (this.#queue.length >= this.#largestBatch) this.#start();
    else this.#timer ??= setTimeout(() => this.#start(), this.#config.batch_max_ms).unref();
  }

  /** Drops the oldest waiting events, those of the batch first, down to the capacity. */
  #dropOldest(): void {
    const waiting = this.#sending.length - this.#inFlight + this.#queue.length;
    const excess = waiting - this.#config.queue_capacity;
    if (excess <= 0) return;
    const fromBatch = this.#sending.splice(this.#inFlight, excess).length;
    this.#queue.splice(0, excess - fromBatch);
    this.dropped.queue_full += excess;
  }

  /** Sends the queue within `shutdown_flush_ms` and counts the rest as unsent. */
  async close(): Promise<void> {
    this.#closing = true;
    const late = setTimeout(() => this.#ending.abort(), this.#config.shutdown_flush_ms);
    if (this.#config.shutdown_flush_ms === 0) this.#ending.abort();
    this.#closes.abort();
    this.#start();
    await this.#work;
    clearTimeout(late);
    this.dropped.unsent += this.#queue.length + this.#sending.length;
    this.#queue.length = 0;
  }

  /** Drops waiting events that match. Those of a request that is under way may be accepted, so they stay. */
  async drop(matches: (event: TelemetryEvent) => Promise<boolean>): Promise<void> {
    const gone = new Set<TelemetryEvent>();
    for (const event of [...this.#sending, ...this.#queue]) if (await matches(event)) gone.add(event);
    const waiting = this.#sending.splice(this.#inFlight);
    this.#sending.push(...waiting.filter((event) => !gone.has(event)));
    this.#queue.splice(0, this.#queue.length, ...this.#queue.filter((event) => !gone.has(event)));
  }

  #start(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#work ??= this.#sendAll().finally(() => {
      this.#work = undefined;
      if (this.#queue.length > 0 && !this.#closing) {
        this.#timer ??= setTimeout(() => this.#start(), this.#config.batch_max_ms).unref();
      }
    });
  }

  /** Sends until less than a batch is left; everything when closing. */
  async #sendAll(): Promise<void> {
    do {
      this.#sending = this.#queue.splice(0, this.#largestBatch);
      await this.#sendBatch();
    } while (this.#queue.length > 0 && !this.#ending.signal.aborted && this.#mayContinue());
  }

  #mayContinue(): boolean {
    return this.#closing || this.#queue.length >= this.#largestBatch;
  }

  /** Ends when the batch is accepted or dropped, or the sink closes. */
  async #sendBatch(): Promise<void> {
    let repeats = 0;
    while (this.#sending.length > 0 && !this.#ending.signal.aborted) {
      const lost = this.dropped.queue_full + this.dropped.refused;
      const report = lost > this.#reported ? [droppedEvent(this.#source, { ...this.dropped })] : [];
      // The report counts as one of a batch's events.
      const part = this.#sending.slice(0, Math.max(1, this.#largestBatch - report.length));
      this.#inFlight = part.length;
      const { verdict, retryAfterMs } = await this.#post([...part, ...report]);
      this.#inFlight = 0;
      if (verdict === 'repeat') this.#dropOldest();
      if (verdict === 'too large' && part.length > 1) {
        this.#largestBatch = Math.ceil(part.length / 2);
        continue;
      }
      if (verdict === 'repeat') {
        const waited = await this.#wait(repeatDelayMs(repeats, retryAfterMs));
        repeats = waited ? repeats + 1 : 0;
        continue;
      }
      if (verdict === 'accepted') {
        this.#reported = lost;
        this.#growBatches();
      } else this.dropped.refused += part.length;
      this.#sending.splice(0, part.length);
    }
  }

  #growBatches(): void {
    const { batch_max_records, queue_capacity } = this.#config;
    this.#largestBatch = Math.min(this.#largestBatch + 1, batch_max_records, queue_capacity);
  }

  /** Returns false if close() ended the wait: the server may take events again by now. */
  async #wait(ms: number): Promise<boolean> {
    const { signal } = this.#closing ? this.#ending : this.#closes;
    // Unreferenced: events alone keep no process alive.
    return delay(ms, true, { signal, ref: this.#closing }).catch(() => false);
  }

  async #post(
    events: readonly TelemetryEvent[],
  ): Promise<{ verdict: 'accepted' | 'repeat' | 'too large' | 'refused'; retryAfterMs?: number }> {
    const payload = batchPayload(this.#config, events, new Date());
    let response: Response;
    try {
      response = await fetch(this.#url, {
        method: 'POST',
        // A redirect would carry the key to another server.
        redirect: 'manual',
        headers: {
          'content-type': 'application/json',
          'content-encoding': 'gzip',
          'user-agent': `lorekeep/${this.#source.version}`,
        },
        body: new Uint8Array(await compress(JSON.stringify(payload))),
        signal: AbortSignal.any([this.#ending.signal, AbortSignal.timeout(requestMs)]),
      });
    } catch (error) {
      this.#report(`no connection: ${reasonOf(error)}`);
      return { verdict: 'repeat' };
    }
    // The status decides; the body may be cut off or endless.
    void response.body?.cancel().catch(() => {});
    const { status } = response;
    if (status >= 200 && status < 300) {
      this.#failing = false;
      return { verdict: 'accepted' };
    }
    this.#report(`the server answered ${status}`);
    if (status === 413) return { verdict: 'too large' };
    if (status !== 429 && status !== 408 && status < 500) return { verdict: 'refused' };
    const retryAfterMs = retryAfter(response.headers.get('retry-after'));
    return { verdict: 'repeat', ...(retryAfterMs !== undefined && { retryAfterMs }) };
  }

  #report(reason: string): void {
    if (this.#failing || this.#ending.signal.aborted) return;
    this.#failing = true;
    this.#onProblem(`telemetry: ${this.#url.origin}: ${reason}; events are kept or counted as dropped`);
  }
}

/** Returns the wait before a repeat. `repeats`: earlier repeats of the same events. `retryAfterMs`: the server's wish. */
export function repeatDelayMs(repeats: number, retryAfterMs: number | undefined): number {
  if (retryAfterMs === undefined)
    return backoffMs(repeats, { firstMs: firstBackoffMs, longestMs: longestBackoffMs });
  return Math.max(retryAfterMs, Math.min(shortestRetryAfterMs * 2 ** repeats, longestBackoffMs));
}

/** Returns the delay that a Retry-After header asks for, in seconds or as a date, or undefined. */
function retryAfter(header: string | null): number | undefined {
  if (header === null || header.trim() === '') return undefined;
  const seconds = Number(header);
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), longestRetryAfterMs);
}

function reasonOf(error: unknown): string {
  const { message, cause } = error as Error & { cause?: { code?: string; message?: string } };
  return cause?.code ?? cause?.message ?? message;
}
