import { backoffMs } from '../../base/waiting/backoff.js';
import { type RemoteEntry, RemoteModelError } from './remote-model-error.js';

/** Requests in a row that fail, each with all of its attempts, before further ones fail at once. */
const mostFailures = 3;
/** Pauses between probes. */
const pauses = { firstMs: 2000, longestMs: 30_000 };
/** The pause that an error tells while a probe is under way, in ms. */
const probeMs = 1000;

/**
 * Keeps requests from a server that does not answer:
 *
 *     closed  --three requests in a row fail-->  open    (requests fail at once)
 *     open    --pause over, next request-->      probing (the request is the probe; others fail at once)
 *     probing --the probe fails-->               open    (for longer)
 *     probing --an answer begins-->              closed  (one failure opens it again until an answer is whole)
 *
 * A refused request counts as an answer, so that no client can open the breaker by what it asks for.
 */
export class CircuitBreaker {
  /** Told when it opens, with the failure, and when it closes. */
  onChange: ((failure: RemoteModelError | undefined) => void) | undefined;
  #failures = 0;
  #pauses = 0;
  #isProbing = false;
  #open: { readonly failure: RemoteModelError; readonly untilMs: number } | undefined;

  get isOpen(): boolean {
    return this.#open !== undefined;
  }

  /** @throws RemoteModelError with the latest failure, while the server is not to be asked */
  check(server: RemoteEntry): void {
    if (this.#open === undefined) return;
    const { failure, untilMs } = this.#open;
    const left = untilMs - performance.now();
    if (left <= 0 && !this.#isProbing) return;
    const pauseMs = Math.max(left, this.#isProbing ? probeMs : 0);
    const when = `it is asked again in ${Math.ceil(pauseMs / 1000)} s`;
    throw new RemoteModelError(failure.kind, server, `${failure.problem}; ${when}`, {
      cause: failure,
      pauseMs,
    });
  }

  /** Runs a request, which calls `answers` when an answer begins. @throws as check(), without running it; errors of the request */
  async run<T>(server: RemoteEntry, request: (answers: () => void) => Promise<T>): Promise<T> {
    this.check(server);
    const isProbe = this.isOpen;
    this.#isProbing ||= isProbe;
    try {
      const made = await request(() => this.#answers());
      this.#succeeds();
      return made;
    } catch (error) {
      if (error instanceof RemoteModelError) {
        if (!error.isAbsence) this.#succeeds();
        else this.#fails(error, isProbe);
      }
      throw error;
    } finally {
      if (isProbe) this.#isProbing = false;
    }
  }

  #answers(): void {
    if (this.#open === undefined) return;
    this.#failures = mostFailures - 1;
    this.#close();
  }

  #succeeds(): void {
    this.#failures = 0;
    this.#pauses = 0;
    this.#close();
  }

  #close(): void {
    if (this.#open === undefined) return;
    this.#open = undefined;
    this.#isProbing = false;
    this.onChange?.(undefined);
  }

  #fails(failure: RemoteModelError, isProbe: boolean): void {
    this.#failures++;
    // Requests that began before it opened say nothing new.
    if (this.#open === undefined ? this.#failures < mostFailures : !isProbe) return;
    const pauseMs = Math.max(backoffMs(this.#pauses++, pauses), failure.pauseMs ?? 0);
    const wasOpen = this.isOpen;
    this.#open = { failure, untilMs: performance.now() + Math.min(pauseMs, pauses.longestMs) };
    if (!wasOpen) this.onChange?.(failure);
  }
}

interface PeerLog {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
}

interface Peer {
  /** Address and secret. */
  readonly key: string;
  readonly breaker: CircuitBreaker;
}

/** The circuit breakers of a catalog's servers. Models with the same address and secret share one. */
export class Peers {
  /** Told when the server of a model is not asked any more, and when it answers again. */
  log: PeerLog | undefined;
  /** By the name of the model. */
  readonly #peers = new Map<string, Peer>();

  /** Returns the breaker for the server of a model. */
  breakerOf(model: string, url: string, secret: string | undefined): CircuitBreaker {
    const key = JSON.stringify([url.replace(/\/+$/, ''), secret]);
    const known = [...this.#peers.values()].find((peer) => peer.key === key);
    const breaker = known?.breaker ?? new CircuitBreaker();
    if (known === undefined)
      breaker.onChange = (err) => {
        if (err === undefined) this.log?.info({ model }, 'the server of a remote model answers again');
        else
          this.log?.warn(
            { model, err },
            'the server of a remote model does not answer: requests fail at once',
          );
      };
    this.#peers.set(model, { key, breaker });
    return breaker;
  }

  /** Whether requests of each model fail at once, by the name of the model. */
  states(): { model: string; isOpen: boolean }[] {
    return [...this.#peers].map(([model, { breaker }]) => ({ model, isOpen: breaker.isOpen }));
  }
}
