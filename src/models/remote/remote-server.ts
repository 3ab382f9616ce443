import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import { onAbort, readRegular } from '../../../lib/basics.js';
import { LorekeepError } from '../../../lib/internal.js';
import { backoffMs } from '../../base/waiting/backoff.js';
import { PendingWork } from '../../base/waiting/pending-work.js';
import { readBounded, retryAfterMs, speaksOfLength } from './answer.js';
import { type CircuitBreaker, Peers } from './circuit-breaker.js';
import { type RemoteEntry, RemoteModelError } from './remote-model-error.js';
import { hostOf, type RemoteSettings } from './settings.js';

/** Pauses before further attempts. The longest is also that of a Retry-After. */
const pauses = { firstMs: 500, longestMs: 10_000 };
/** Bytes of an answer with an error that are read, to see whether it speaks of the length of a text. */
const errorBytes = 16_384;
const headerBytes = 16_384;
const maxFileBytes = 1_048_576;

export interface CallLimits {
  /** Bytes of the answer, at most. */
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
}

/** A call on its way: what ends it, and why. */
interface Attempt {
  readonly signal: AbortSignal;
  /** Begins the time limit again. */
  touch(): void;
  end(): void;
}

/** The one HTTP client of a remote model. It follows no redirect, uses no proxy, and sends its secret to one host. */
export class RemoteServer implements RemoteEntry {
  readonly name: string;
  readonly file: string;
  readonly host: string;
  readonly settings: RemoteSettings;
  /** Requests at a time. */
  readonly parallel: number;
  readonly #agent: HttpAgent;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #breaker: CircuitBreaker;
  readonly #calls = new PendingWork();
  readonly #closing = new AbortController();
  #closed = false;

  private constructor(
    entry: { name: string; file: string },
    settings: RemoteSettings,
    { key, ca }: { key: string | undefined; ca: string | undefined },
    peers: Peers,
  ) {
    this.name = entry.name;
    this.file = entry.file;
    this.settings = settings;
    this.host = hostOf(settings);
    this.parallel = settings.parallel;
    this.#breaker = peers.breakerOf(entry.name, settings.url, key);
    // Waiting requests beyond `parallel` queue in the agent.
    const shared = { keepAlive: true, maxSockets: settings.parallel };
    this.#agent = settings.url.startsWith('https:')
      ? new HttpsAgent({ ...shared, rejectUnauthorized: true, ...(ca !== undefined && { ca }) })
      : new HttpAgent(shared);
    this.#headers = {
      'content-type': 'application/json',
      'accept-encoding': 'identity',
      'user-agent': 'lorekeep',
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
    };
  }

  /** Reads the secret and the certificates. `resolveFile`: makes a path of the catalog absolute. @throws RemoteModelError */
  static async open(
    entry: { name: string; file: string },
    settings: RemoteSettings,
    resolveFile: (file: string) => string,
    peers = new Peers(),
  ): Promise<RemoteServer> {
    const told = { ...entry, host: hostOf(settings) };
    const read = async (field: 'key_file' | 'ca_file') => {
      const file = settings[field];
      return file === undefined
        ? undefined
        : readRegular(resolveFile(file), maxFileBytes).catch((cause: unknown) => {
            throw new RemoteModelError('settings', told, `is not asked: remote.${field} cannot be read`, {
              cause,
            });
          });
    };
    const { key_env } = settings;
    const key = key_env === undefined ? (await read('key_file'))?.trim() : process.env[key_env];
    const origin = key_env === undefined ? 'remote.key_file' : `the environment variable ${key_env}`;
    const wantsKey = key_env !== undefined || settings.key_file !== undefined;
    // The message never shows the value: it is a secret.
    if (wantsKey && !/^[\x21-\x7e]{1,4096}$/.test(key ?? '')) {
      const problem = key ? 'is not one line of printable ASCII without spaces' : 'has no secret';
      throw new RemoteModelError('settings', told, `is not asked: ${origin} ${problem}`);
    }
    const ca = await read('ca_file');
    if (ca !== undefined && !ca.includes('-----BEGIN CERTIFICATE-----'))
      throw new RemoteModelError(
        'settings',
        told,
        'is not asked: remote.ca_file has no certificate in PEM form',
      );
    return new RemoteServer(entry, settings, { key, ca }, peers);
  }

  /** Posts JSON and returns the parsed answer. @throws RemoteModelError; the signal's reason; CLOSED */
  post(path: string, body: object, { maxBytes, signal }: CallLimits): Promise<unknown> {
    const text = JSON.stringify(body);
    const once = async () => {
      const attempt = this.#attempt(signal);
      try {
        const answer = await this.#send(path, text, attempt);
        return parsed(await this.#read(answer, maxBytes, attempt), this);
      } finally {
        attempt.end();
      }
    };
    return this.#tracked(() => this.#retried(signal, once));
  }

  /**
   * Posts JSON and passes the parts of the answer to `take`, which returns whether it wants more. Attempts are repeated until an
   * answer begins. @throws as post()
   */
  stream(
    path: string,
    body: object,
    { maxBytes, signal }: CallLimits,
    take: (part: Uint8Array) => boolean,
  ): Promise<void> {
    const text = JSON.stringify(body);
    return this.#tracked(async (answers) => {
      const attempts: Attempt[] = [];
      try {
        const [answer, attempt] = await this.#retried(signal, async () => {
          const attempt = this.#attempt(signal);
          attempts.push(attempt);
          return [await this.#send(path, text, attempt), attempt] as const;
        });
        await this.#pass(answer, maxBytes, attempt, (part) => {
          answers();
          return take(part);
        });
      } finally {
        for (const attempt of attempts) attempt.end();
      }
    });
  }

  /** Refuses new calls and waits for pending ones; `failing` ends these. */
  async close(failing?: Error): Promise<void> {
    this.#closed = true;
    if (failing !== undefined) this.#closing.abort(failing);
    await this.#calls.settled();
    this.#agent.destroy();
  }

  /** @throws RemoteModelError if it would not be asked now */
  check(): void {
    this.#breaker.check(this);
  }

  async #tracked<T>(call: (answers: () => void) => Promise<T>): Promise<T> {
    if (this.#closed)
      throw new LorekeepError('CLOSED', `model ${JSON.stringify(this.name)}: used after close()`);
    return this.#calls.track(this.#breaker.run(this, call));
  }

  async #retried<T>(signal: AbortSignal | undefined, once: () => Promise<T>): Promise<T> {
    const { retries } = this.settings;
    for (let attempt = 0; ; attempt++) {
      signal?.throwIfAborted();
      try {
        return await once();
      } catch (error) {
        if (!(error instanceof RemoteModelError) || !error.retryable || attempt >= retries) throw error;
        const wanted = error.pauseMs ?? backoffMs(attempt, pauses);
        if (wanted > pauses.longestMs || this.#breaker.isOpen) throw error;
        const ends = [this.#closing.signal, ...(signal === undefined ? [] : [signal])];
        await delay(wanted, undefined, { signal: AbortSignal.any(ends) }).catch(() => {});
        this.#closing.signal.throwIfAborted();
      }
    }
  }

  #attempt(signal: AbortSignal | undefined): Attempt {
    const stop = new AbortController();
    const { timeout_ms } = this.settings;
    let isSent = false;
    const late = () =>
      stop.abort(
        isSent
          ? this.#failure('timeout', `does not answer within ${timeout_ms} ms`)
          : this.#failure(
              'busy',
              `has ${this.parallel} other requests (remote.parallel) for ${timeout_ms} ms`,
            ),
      );
    let timer = setTimeout(late, timeout_ms);
    const endOn = (end: AbortSignal | undefined) => {
      if (end?.aborted) stop.abort(end.reason);
      return onAbort(end, () => stop.abort(end?.reason));
    };
    const listening = [endOn(signal), endOn(this.#closing.signal)];
    return {
      signal: stop.signal,
      touch: () => {
        isSent = true;
        clearTimeout(timer);
        timer = setTimeout(late, timeout_ms);
      },
      end: () => {
        clearTimeout(timer);
        for (const stopListening of listening) stopListening();
      },
    };
  }

  /** Resolves to an answer with the status 200. @throws RemoteModelError; the signal's reason */
  async #send(path: string, body: string, attempt: Attempt): Promise<IncomingMessage> {
    const { url } = this.settings;
    const { signal, touch } = attempt;
    signal.throwIfAborted();
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const request = url.startsWith('https:') ? requestHttps : requestHttp;
      const headers = { ...this.#headers, 'content-length': Buffer.byteLength(body) };
      const sent = request(url.replace(/\/+$/, '') + path, {
        method: 'POST',
        agent: this.#agent,
        headers,
        signal,
        maxHeaderSize: headerBytes,
      });
      sent.on('socket', touch); // it may have waited for a connection
      sent.on('response', resolve);
      const fail = (cause: unknown) => reject(signal.aborted ? signal.reason : this.#lost(cause));
      sent.on('error', fail);
      // Without an error if the server switches to another protocol.
      sent.on('close', () => fail({ code: 'ECONNRESET' }));
      sent.end(body);
    });
    // Errors of the answer after its reader has gone.
    answer.on('error', () => {});
    const { statusCode: status = 0, headers } = answer;
    if (status === 200) return answer;
    throw await this.#refusal(answer, status, headers['retry-after'], attempt);
  }

  async #read(answer: IncomingMessage, maxBytes: number, { signal }: Attempt): Promise<Buffer> {
    const body = await readBounded(answer, maxBytes).catch((cause: unknown) => {
      throw signal.aborted ? signal.reason : this.#lost(cause);
    });
    if (body === undefined) throw this.#tooLarge(maxBytes);
    return body;
  }

  async #pass(
    answer: IncomingMessage,
    maxBytes: number,
    { signal, touch }: Attempt,
    take: (part: Uint8Array) => boolean,
  ): Promise<void> {
    let bytes = 0;
    try {
      for await (const part of answer as AsyncIterable<Buffer>) {
        bytes += part.length;
        if (bytes > maxBytes) throw this.#tooLarge(maxBytes);
        if (!take(part)) return;
        touch();
      }
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw error instanceof LorekeepError ? error : this.#lost(error);
    }
  }

  async #refusal(
    answer: IncomingMessage,
    status: number,
    retryAfter: string | undefined,
    { signal }: Attempt,
  ): Promise<unknown> {
    if (status >= 300 && status < 400) {
      answer.destroy();
      return this.#failure(
        'refused',
        `redirects (status ${status}), which is not followed; correct remote.url`,
        {
          status,
        },
      );
    }
    const body = await readBounded(answer, errorBytes).catch(() => undefined);
    if (signal.aborted) return signal.reason;
    if (status >= 400 && speaksOfLength(status, body))
      return this.#failure('too-long', 'finds the text too long for the model', { status });
    const retryable = [429, 500, 502, 503, 504].includes(status);
    if (!retryable)
      return this.#failure('refused', refusals[status] ?? `refuses the request (status ${status})`, {
        status,
      });
    const problem = status === 429 ? 'has too many requests (status 429)' : `fails (status ${status})`;
    return this.#failure('busy', problem, { status, retryable, pauseMs: retryAfterMs(retryAfter) });
  }

  /** Errors of the connection: their messages have addresses, and no secret. */
  #lost(cause: unknown): unknown {
    if (cause instanceof RemoteModelError) return cause;
    const { code = 'unknown error' } = (cause ?? {}) as { code?: string };
    if (/^HPE_/.test(code))
      return this.#failure('malformed', `answers with something that is not HTTP (${code})`, { cause });
    const isTls = /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_|SELF_SIGNED|UNABLE_TO)|_SIGNATURE|_CERT/.test(code);
    const problem = isTls
      ? `has no certificate that is trusted (${code}); remote.ca_file names others`
      : `cannot be reached, or the connection was lost (${code})`;
    return this.#failure('unreachable', problem, { cause, retryable: !isTls });
  }

  #tooLarge(maxBytes: number): RemoteModelError {
    return this.#failure('too-large', `answers with more than ${maxBytes} bytes`);
  }

  #failure(...[kind, problem, facts]: FailureArguments): RemoteModelError {
    return new RemoteModelError(kind, this, problem, facts);
  }
}

type FailureArguments = [
  ConstructorParameters<typeof RemoteModelError>[0],
  string,
  ConstructorParameters<typeof RemoteModelError>[3]?,
];

/** What a status means for the operator. */
const refusals: Readonly<Record<number, string>> = {
  401: 'refuses the secret (status 401); correct remote.key_env or remote.key_file',
  403: 'refuses the secret (status 403); correct remote.key_env or remote.key_file',
  404: 'does not know the address or the model (status 404); correct remote.url or remote.model',
};

/** @throws RemoteModelError */
function parsed(body: Buffer, server: RemoteEntry): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    // JSON.parse quotes the text.
    throw new RemoteModelError(
      'malformed',
      server,
      'answers with something that is not JSON; correct remote.url',
    );
  }
}
