import type { ServerError } from '../protocol/errors.js';
import type { Bytes } from './bytes.js';
import type { ClientMemory } from './client-memory.js';
import { keyHeap, requestBase, valueHeap } from './estimates.js';
import type { Ledger } from './ledger.js';

/** Number of values in a payload, and of keys of objects. */
export interface PayloadContent {
  readonly values: number;
  readonly keys: number;
}

const noContent: PayloadContent = { values: 0, keys: 0 };

/** Memory of one request, from its first parsed byte until it is released. */
export interface RequestMemory {
  /** Counts the payload so far. @throws ClientMemoryExceeded, ServerMemoryExceeded if that does not fit */
  parsed(content: PayloadContent): void;
  release(): void;
}

/** Transient memory of one connection: received bytes, pending requests, unsent bytes. */
export class ConnectionMemory {
  readonly #client: ClientMemory;
  readonly #onRoom: () => void;
  readonly #setReceived: (bytes: number) => void;
  readonly #setUnsent: (bytes: number) => void;
  #received = 0;
  #cancelWait: (() => void) | undefined;

  /** `onRoom` is called when the connection should retry a request that did not fit. */
  constructor(client: ClientMemory, onRoom: () => void) {
    this.#client = client;
    this.#onRoom = onRoom;
    this.#setReceived = client.gauge('receiving');
    this.#setUnsent = client.gauge('replies');
  }

  /** The client's memory by kind. */
  get ledger(): Ledger {
    return this.#client.ledger;
  }

  /** Sets the number of received, unparsed bytes. */
  received(bytes: number): void {
    if (bytes === this.#received) return;
    this.#received = bytes;
    this.#setReceived(bytes);
  }

  /** Sets the number of reply bytes not yet read by the client. */
  unsent(bytes: number): void {
    this.#setUnsent(bytes);
  }

  /** Returns whether more may be read. After false, `onRoom` is called when that may have changed. */
  mayRead(): boolean {
    return this.#client.mayRead || this.#wait();
  }

  /** Returns why a frame of this length can never be served; undefined if it can. */
  refusal(payloadBytes: number): ServerError | undefined {
    const bytes = requestBytes(payloadBytes, noContent);
    return this.#client.tooLarge(bytes, () => `a frame of ${payloadBytes} bytes was not accepted`);
  }

  /** Reserves memory for the request in a frame; undefined if it does not fit now, and `onRoom` is called later. */
  take(payloadBytes: number): RequestMemory | undefined {
    const { heap, native } = requestBytes(payloadBytes, noContent);
    // The payload still counts among the received bytes.
    if (!this.#client.fits({ heap, native: native - this.#received })) {
      this.#wait();
      return undefined;
    }
    return this.#request(payloadBytes);
  }

  /** Returns whether the request that is being parsed may grow. After false, `onRoom` is called when that may have changed. */
  mayGrow(): boolean {
    return this.#client.mayGrow || this.#wait();
  }

  /** The request has been parsed. */
  grown(): void {
    this.#client.grown();
  }

  /** Waits for memory for results and counts it. @throws as ClientMemory.reserve() */
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
    const setRequest = this.#client.gauge('requests');
    const { heap, native } = requestBytes(payloadBytes, noContent);
    setRequest(native, heap);
    return {
      parsed: (content) => {
        const refusal = this.#client.tooLarge(
          requestBytes(payloadBytes, content),
          () => `a frame of ${payloadBytes} bytes with ${content.values} values was not accepted`,
        );
        if (refusal !== undefined) throw refusal;
        setRequest(native, heap + contentHeap(content));
      },
      release: () => setRequest(0),
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

/** Returns the memory of a payload, its strings (at most two bytes per character), and its values. */
function requestBytes(payloadBytes: number, content: PayloadContent): Bytes {
  return { heap: requestBase + 2 * payloadBytes + contentHeap(content), native: payloadBytes };
}

const contentHeap = ({ values, keys }: PayloadContent) => valueHeap * values + keyHeap * keys;
