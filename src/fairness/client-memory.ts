import { onAbort } from '../../lib/basics.js';
import type { ServerError } from '../protocol/errors.js';
import { type BudgetOwner, budgetError, type Excess } from './budget-error.js';
import { type Bytes, type HeldKind, type MemoryKind, noBytes, type PassingKind } from './bytes.js';
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

/** Waits of the server's after which a request gives up: by then a larger consumer should have been closed. */
const patience = 3;

/** The server's view: the sum of all clients, and the waiting ones. */
export interface AllClients {
  /** How long whoever finds no room waits, in ms. */
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

/** The counted memory of one client. The server's budget includes all of it. */
export class ClientMemory {
  readonly ledger: Ledger;
  readonly #server: AllClients;
  /** Ends the client's connection for this reason. */
  readonly expel: (reason: ServerError) => void;
  #closed = false;

  /** @internal Use ServerMemory.client(). */
  constructor(server: AllClients, limits: MemoryLimits, expel: (reason: ServerError) => void) {
    this.#server = server;
    this.ledger = new Ledger(limits);
    this.expel = expel;
  }

  /** A holding with nothing in it. */
  hold(kind: HeldKind): Holding {
    let sum = noBytes;
    const put = (next: Bytes) => {
      this.#move(kind, { heap: next.heap - sum.heap, native: next.native - sum.native });
      sum = next;
    };
    return {
      add: (more, what) => {
        const bytes = { ...noBytes, ...more };
        this.#checkHeld(bytes, what);
        put({ heap: sum.heap + bytes.heap, native: sum.native + bytes.native });
      },
      settle: (bytes) => put({ ...noBytes, ...bytes }),
      release: () => put(noBytes),
    };
  }

  /** Counts something that passes, until the result is called. Nothing is refused: ask mayRead or fits() before. */
  pass(kind: PassingKind, bytes: Bytes): () => void {
    let left = bytes;
    this.#move(kind, bytes);
    return () => {
      this.#move(kind, { heap: -left.heap, native: -left.native });
      left = noBytes;
    };
  }

  /** Returns a function that sets a changing number of bytes: of a request, received, or unsent. */
  gauge(kind: PassingKind): (native: number, heap?: number) => void {
    let last = noBytes;
    return (native, heap = 0) => {
      if (native === last.native && heap === last.heap) return;
      this.#move(kind, { heap: heap - last.heap, native: native - last.native });
      last = { heap, native };
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
    if (this.#closed) return;
    this.#closed = true;
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

  #move(kind: MemoryKind, bytes: Bytes): void {
    if (bytes.heap === 0 && bytes.native === 0) return;
    this.ledger.add(kind, bytes);
    this.#server.moved(this, kind, bytes);
  }
}

const noBytesNow: MemoryLimits = { heap: 0, total: 0 };
