import { onAbort } from '../../lib/basics.js';
import type { ServerError } from '../protocol/errors.js';
import { type BudgetOwner, budgetError, type Excess } from './budget-error.js';
import { type Bytes, type HeldKind, type MemoryKind, noBytes, type PassingKind, sumOf } from './bytes.js';
import { type PayloadContent, requestBytes } from './estimates.js';
import { excess, Ledger, type MemoryLimits } from './ledger.js';

/** Memory of one agent, storage, session or connection, for as long as that lives. */
export interface Holding {
  /** Adds to it. `what` begins the sentence of a refusal. @throws ClientMemoryExceeded, ServerMemoryExceeded: nothing is added */
  add(bytes: Partial<Bytes>, what: string): void;
  /** Replaces the sum by measured bytes; never refused. */
  settle(bytes: Partial<Bytes>): void;
  /** Releases all of it. Idempotent. */
  release(): void;
}

/** Memory of one request, from its first parsed byte until it is released. */
export interface RequestMemory {
  /** Counts the payload so far. @throws ClientMemoryExceeded, ServerMemoryExceeded if that can never fit */
  parsed(content: PayloadContent): void;
  release(): void;
}

/** Waits of the server's after which a request gives up: by then a larger consumer should have been closed. */
const patience = 3;

/** The server's view: the sum of all clients, and the waiting ones. */
export interface AllClients {
  /** Time that a client without room waits, in ms. */
  readonly waitMs: number;
  readonly ledger: Ledger;
  /** Returns whether more transient memory of this client fits now. */
  fits(client: ClientMemory, bytes: Bytes): boolean;
  /** Returns whether a request that is being parsed may grow. */
  mayGrow(client: ClientMemory): boolean;
  grown(client: ClientMemory): void;
  /** The limit that would be broken if this client held more. */
  heldExcess(client: ClientMemory, bytes: Bytes): Excess | undefined;
  wait(client: ClientMemory, callback: () => void): () => void;
  moved(client: ClientMemory, kind: MemoryKind, bytes: Bytes): void;
  forget(client: ClientMemory): void;
}

/** The bytes that one client makes the server hold. The server's budget includes all of them. */
export class ClientMemory {
  readonly ledger: Ledger;
  /** Sets the number of reply bytes that the client has not read. */
  readonly unsent: (native: number) => void;
  readonly #server: AllClients;
  readonly #setReceived: (native: number) => void;
  #received = 0;
  /** Ends the client's connection for this reason. */
  readonly expel: (reason: ServerError) => void;

  /** @internal Use ServerMemory.client(). */
  constructor(server: AllClients, limits: MemoryLimits, expel: (reason: ServerError) => void) {
    this.#server = server;
    this.ledger = new Ledger(limits);
    this.expel = expel;
    this.unsent = this.#gauge('replies');
    this.#setReceived = this.#gauge('receiving');
  }

  /** A holding with nothing in it. */
  hold(kind: HeldKind): Holding {
    let sum = noBytes;
    const set = this.#gauge(kind);
    const put = (bytes: Partial<Bytes>) => {
      sum = { ...noBytes, ...bytes };
      set(sum.native, sum.heap);
    };
    return {
      add: (more, what) => {
        const bytes = { ...noBytes, ...more };
        this.#checkHeld(bytes, what);
        put(sumOf(sum, bytes));
      },
      settle: put,
      release: () => put(noBytes),
    };
  }

  /** Counts something that passes, until the result is called. Nothing is refused: ask mayRead or fits() before. */
  pass(kind: PassingKind, { heap, native }: Bytes): () => void {
    const set = this.#gauge(kind);
    set(native, heap);
    return () => set(0);
  }

  /** Sets the number of received bytes that are not parsed. */
  received(bytes: number): void {
    this.#received = bytes;
    this.#setReceived(bytes);
  }

  /** Returns why a frame of this length can never be served; undefined if it can. */
  refusal(payloadBytes: number): ServerError | undefined {
    return this.tooLarge(
      requestBytes(payloadBytes),
      () => `a frame of ${payloadBytes} bytes was not accepted`,
    );
  }

  /** Counts the request in a frame. Returns undefined if it does not fit now. */
  begin(payloadBytes: number): RequestMemory | undefined {
    const { heap, native } = requestBytes(payloadBytes);
    // The payload still counts among the received bytes.
    if (!this.fits({ heap, native: native - this.#received })) return undefined;
    const set = this.#gauge('requests');
    set(native, heap);
    return {
      parsed: (content) => {
        const bytes = requestBytes(payloadBytes, content);
        const refusal = this.tooLarge(
          bytes,
          () => `a frame of ${payloadBytes} bytes with ${content.values} values was not accepted`,
        );
        if (refusal !== undefined) throw refusal;
        set(native, bytes.heap);
      },
      release: () => set(0),
    };
  }

  /** Whether more may be read from this client: its own share is left, and it is no large consumer of a full server. */
  get mayRead(): boolean {
    const { passingNow, passing } = this.ledger;
    if (passingNow.total >= passing.total || passingNow.heap >= passing.heap) return false;
    return this.#server.fits(this, noBytes);
  }

  /** Whether the request that is being parsed may grow: there is room, or it is the first that has waited for it. */
  get mayGrow(): boolean {
    return this.#server.mayGrow(this);
  }

  /** Tells that the request has been parsed. */
  grown(): void {
    this.#server.grown(this);
  }

  /** Whether passing memory of this size fits now. */
  fits(bytes: Bytes): boolean {
    const { passingNow, passing } = this.ledger;
    return excess(passingNow, bytes, passing) === undefined && this.#server.fits(this, bytes);
  }

  /** Returns why a request can never fit, even after waiting; undefined if it can. `what` returns the beginning of the sentence. */
  tooLarge(bytes: Bytes, what: () => string): ServerError | undefined {
    const client = excess(noBytesNow, bytes, this.ledger.passing);
    if (client !== undefined) return budgetError('client', what(), client);
    const server = excess(noBytesNow, bytes, this.#server.ledger.passing);
    return server && budgetError('server', what(), server);
  }

  /** Calls back once, when there may be room again. The result cancels it. */
  onRoom(callback: () => void): () => void {
    return this.#server.wait(this, callback);
  }

  /**
   * Waits until transient memory fits, and counts it; the result gives it back. Those who wait may hold memory that others
   * wait for, so every wait ends. @throws as tooLarge(), also after waiting in vain; the signal's reason
   */
  async reserve(kind: PassingKind, bytes: Bytes, what: string, signal: AbortSignal): Promise<() => void> {
    const never = this.tooLarge(bytes, () => what);
    if (never !== undefined) throw never;
    const late = performance.now() + patience * this.#server.waitMs;
    while (!this.fits(bytes)) {
      if (performance.now() >= late) throw this.#full(bytes, what);
      await this.#roomOrAbort(signal);
      signal.throwIfAborted();
    }
    return this.pass(kind, bytes);
  }

  /** The client has gone. Memory may still be given back afterwards. */
  close(): void {
    this.#server.forget(this);
  }

  /** Returns the error for a request that waited in vain. */
  #full(bytes: Bytes, what: string): ServerError {
    const { passingNow, passing } = this.ledger;
    const own = excess(passingNow, bytes, passing);
    if (own !== undefined) return budgetError('client', what, own);
    const all = this.#server.ledger;
    const over = excess(all.passingNow, bytes, all.passing);
    const { total } = all.passing;
    return budgetError('server', what, over ?? { heap: false, needed: total, limit: total });
  }

  #roomOrAbort(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const settle = () => {
        stopListening();
        cancel();
        resolve();
      };
      const cancel = this.onRoom(settle);
      const stopListening = onAbort(signal, settle);
    });
  }

  #checkHeld(bytes: Bytes, what: string): void {
    const { heldNow, held } = this.ledger;
    const refuse = (owner: BudgetOwner, over: Excess): never => {
      throw budgetError(owner, what, over);
    };
    const client = excess(heldNow, bytes, held);
    if (client !== undefined) refuse('client', client);
    const server = this.#server.heldExcess(this, bytes);
    if (server !== undefined) refuse('server', server);
  }

  /** Returns a function that sets the bytes of something. */
  #gauge(kind: MemoryKind): (native: number, heap?: number) => void {
    let last = noBytes;
    return (native, heap = 0) => {
      if (native === last.native && heap === last.heap) return;
      const more = { heap: heap - last.heap, native: native - last.native };
      last = { heap, native };
      this.ledger.add(kind, more);
      this.#server.moved(this, kind, more);
    };
  }
}

const noBytesNow: MemoryLimits = { heap: 0, total: 0 };
