import type { ServerError } from '../protocol/errors.js';
import type { Bytes } from './bytes.js';
import type { ClientMemory } from './client-memory.js';
import { requestBase, valueHeap } from './estimates.js';
import type { Ledger } from './ledger.js';

/** Memory of one request, from its first parsed byte until nothing holds it any more. */
export interface RequestMemory {
  /** Counts the values that its payload has. @throws ClientMemoryExceeded, ServerMemoryExceeded: the request has no room */
  parsed(values: number): void;
  release(): void;
}

/** What passes through one connection: bytes received, requests under way, bytes not sent. */
export class ConnectionMemory {
  readonly #client: ClientMemory;
  readonly #onRoom: () => void;
  readonly #setReceived: (bytes: number) => void;
  readonly #setUnsent: (bytes: number) => void;
  #received = 0;
  #cancelWait: (() => void) | undefined;

  /** `onRoom` is called when the connection should try again what had no room. */
  constructor(client: ClientMemory, onRoom: () => void) {
    this.#client = client;
    this.#onRoom = onRoom;
    this.#setReceived = client.gauge('receiving');
    this.#setUnsent = client.gauge('replies');
  }

  /** What the client holds. */
  get ledger(): Ledger {
    return this.#client.ledger;
  }

  /** Tells how many received bytes wait for being parsed. */
  received(bytes: number): void {
    this.#received = bytes;
    this.#setReceived(bytes);
  }

  /** Tells how many bytes of replies wait for the client to read. */
  unsent(bytes: number): void {
    this.#setUnsent(bytes);
  }

  /** Whether more may be read. After false, `onRoom` is called when it may be otherwise. */
  mayRead(): boolean {
    return this.#client.mayRead || this.#wait();
  }

  /** Why a frame of this length can never be served; undefined if it can. */
  refusal(payloadBytes: number): ServerError | undefined {
    return this.#client.tooLarge(
      requestBytes(payloadBytes, 0),
      `a frame of ${payloadBytes} bytes is not taken`,
    );
  }

  /** Takes room for the request of a whole frame; undefined when there is none for now: `onRoom` is called later. */
  take(payloadBytes: number): RequestMemory | undefined {
    const { heap, native } = requestBytes(payloadBytes, 0);
    // The payload is among the received bytes until then.
    if (!this.#client.fits({ heap, native: native - this.#received })) {
      this.#wait();
      return undefined;
    }
    return this.#request(payloadBytes);
  }

  /** Counts results that are about to be made, once there is room for them. @throws as ClientMemory.reserve() */
  reserve(bytes: Bytes, signal: AbortSignal): Promise<() => void> {
    return this.#client.reserve(
      'results',
      bytes,
      'the results may be too large: ask for fewer hits (top_k)',
      signal,
    );
  }

  /** The connection has ended. */
  close(): void {
    this.#cancelWait?.();
    this.received(0);
    this.unsent(0);
  }

  #request(payloadBytes: number): RequestMemory {
    const releases = [this.#client.pass('requests', requestBytes(payloadBytes, 0))];
    let counted = 0;
    return {
      parsed: (values) => {
        const more = { heap: (values - counted) * valueHeap, native: 0 };
        const refusal = this.#client.tooLarge(
          requestBytes(payloadBytes, values),
          `a frame of ${payloadBytes} bytes with ${values} values is not taken`,
        );
        if (refusal !== undefined) throw refusal;
        counted = values;
        releases.push(this.#client.pass('requests', more));
      },
      release: () => {
        for (const release of releases.splice(0)) release();
      },
    };
  }

  #wait(): false {
    this.#cancelWait ??= this.#client.onRoom(() => {
      this.#cancelWait = undefined;
      this.#onRoom();
    });
    return false;
  }
}

/** The payload itself, its strings (two bytes per character at worst), and its values. */
function requestBytes(payloadBytes: number, values: number): Bytes {
  return { heap: requestBase + 2 * payloadBytes + valueHeap * values, native: payloadBytes };
}
