import type { ServerError } from '../protocol/errors.js';
import { budgetError, type Excess } from './budget-error.js';
import { type Bytes, type MemoryKind, noBytes } from './bytes.js';
import { type AllClients, ClientMemory } from './client-memory.js';

import { excess, Ledger, type MemoryLimits } from './ledger.js';

export interface ServerMemoryOptions {
  /** For all clients together. */
  server: MemoryLimits;
  /** For each. */
  client: MemoryLimits;
  /** Time in ms for which passing memory may be short before the largest client is closed. */
  waitMs: number;
  /** Called with each number of bytes that something takes or gives back. */
  onMove?: (bytes: number) => void;
  /** Called before the largest client is closed. */
  onExpel?: (reason: ServerError) => void;
}

/** Part of the transient memory that all clients use alike; above it large consumers wait. */
const calm = 3 / 4;

/** Part of the held memory that is reserved for clients that hold little. */
const keptForSmall = 1 / 8;

/** The part of an equal share of the reserve's rest that one client may hold. */
const shareOfReserve = 1 / 4;

/** Clients that share the reserve, at least. */
const fewestSharers = 2;

/** Waiters that are called back in one turn of the event loop. */
const wokenAtOnce = 64;

/**
 * Memory held for all clients. Requests to hold more than the limits are refused. Requests for passing memory wait,
 * large consumers longest. When one has waited for `waitMs`, the largest consumer is closed.
 */
export class ServerMemory implements AllClients {
  readonly ledger: Ledger;
  readonly #options: ServerMemoryOptions;
  readonly #waiting = new Map<() => void, ClientMemory>();
  /** Clients with transient memory. */
  readonly #active = new Set<ClientMemory>();
  /** Clients with held memory. */
  readonly #holders = new Set<ClientMemory>();
  /** Since when clients have found no room. */
  readonly #withoutRoom = new Map<ClientMemory, number>();
  /** Clients whose growing requests found no room, oldest first. Only the first may grow. */
  readonly #growing = new Set<ClientMemory>();
  #waking: (() => void)[] = [];
  #patience: NodeJS.Timeout | undefined;

  constructor(options: ServerMemoryOptions) {
    this.#options = options;
    this.ledger = new Ledger(options.server);
  }

  get waitMs(): number {
    return this.#options.waitMs;
  }

  get limits(): { server: MemoryLimits; client: MemoryLimits } {
    return this.#options;
  }

  /** `expel` ends the client's connection for a reason. */
  client(expel: (reason: ServerError) => void = () => {}): ClientMemory {
    return new ClientMemory(this, this.#options.client, expel);
  }

  /**
   * Returns whether more transient memory of this client fits now. Three quarters of the limit are free for all. The last
   * quarter is for clients that take less than an equal share of its rest.
   */
  fits(client: ClientMemory, bytes: Bytes): boolean {
    const fits = this.#hasRoom(client, bytes);
    if (fits) this.#withoutRoom.delete(client);
    else if (!this.#withoutRoom.has(client)) this.#withoutRoom.set(client, performance.now());
    return fits;
  }

  /**
   * Returns whether a request of this client may grow while it is parsed: its size is not known before. Without room one request at
   * a time may, so that each of them ends.
   */
  mayGrow(client: ClientMemory): boolean {
    if (this.fits(client, noBytes)) return true;
    this.#growing.add(client);
    const [first] = this.#growing;
    return first === client;
  }

  /** The request has been parsed. */
  grown(client: ClientMemory): void {
    if (this.#growing.delete(client)) this.#wake();
  }

  /**
   * Returns the limit that would be broken if this client held more. In the reserve a client may hold a quarter of an equal
   * share of the rest: the more clients there are and the fuller it is, the less each may hold, so that they never use it up.
   */
  heldExcess(client: ClientMemory, bytes: Bytes): Excess | undefined {
    const { heldNow, held } = this.ledger;
    const over = excess(heldNow, bytes, scaled(held, 1 - keptForSmall));
    if (over === undefined) return undefined;
    const share = scaled(left(heldNow, held), shareOfReserve / Math.max(fewestSharers, this.#holders.size));
    return excess(client.ledger.heldNow, bytes, share) === undefined ? undefined : over;
  }

  /** Calls back once, when room may have been made. The result cancels it. */
  wait(client: ClientMemory, callback: () => void): () => void {
    this.#waiting.set(callback, client);
    this.#watch();
    return () => this.#waiting.delete(callback);
  }

  /** @internal Of ClientMemory: after each change. */
  moved(client: ClientMemory, kind: MemoryKind, bytes: Bytes): void {
    this.ledger.add(kind, bytes);
    count(this.#active, client, client.ledger.passingNow.total);
    count(this.#holders, client, client.ledger.heldNow.total);
    if (bytes.heap < 0 || bytes.native < 0) this.#wake();
    this.#options.onMove?.(Math.abs(bytes.heap) + Math.abs(bytes.native));
  }

  /** @internal Of ClientMemory.close(). */
  forget(client: ClientMemory): void {
    this.#active.delete(client);
    this.#holders.delete(client);
    this.#withoutRoom.delete(client);
    this.#growing.delete(client);
    for (const [callback, waiting] of this.#waiting) if (waiting === client) this.#waiting.delete(callback);
    this.#wake();
  }

  #hasRoom(client: ClientMemory, bytes: Bytes): boolean {
    const { passingNow, passing } = this.ledger;
    if (excess(passingNow, bytes, scaled(passing, calm)) === undefined) return true;
    const share = scaled(left(passingNow, passing), 1 / Math.max(1, this.#active.size));
    return excess(client.ledger.passingNow, bytes, share) === undefined;
  }

  /** Calls everybody back who waits now, a few per turn of the event loop. */
  #wake(): void {
    if (this.#waiting.size === 0 || this.#waking.length > 0) return;
    this.#waking = [...this.#waiting.keys()];
    setImmediate(() => this.#wakeSome());
  }

  #wakeSome(): void {
    for (const callback of this.#waking.splice(0, wokenAtOnce)) {
      if (this.#waiting.delete(callback)) callback();
    }
    if (this.#waking.length > 0) setImmediate(() => this.#wakeSome());
  }

  /** While clients find no room, the largest consumer has `waitMs` to finish. */
  #watch(): void {
    this.#patience ??= setTimeout(() => {
      this.#patience = undefined;
      const [first] = this.#withoutRoom.values();
      if (first !== undefined && performance.now() - first >= this.#options.waitMs) this.#expelLargest();
      this.#wake();
      if (this.#waiting.size > 0) this.#watch();
    }, this.#options.waitMs / 2).unref();
  }

  /** Closes the largest, and as many more as it takes for three quarters to be enough for the rest. */
  #expelLargest(): void {
    this.#withoutRoom.clear();
    const { passingNow, passing } = this.ledger;
    const bySize = [...this.#active].sort((a, b) => b.ledger.passingNow.total - a.ledger.passingNow.total);
    let left = passingNow.total - passing.total * calm;
    let leftHeap = passingNow.heap - passing.heap * calm;
    for (const [place, client] of bySize.entries()) {
      if (place > 0 && left <= 0 && leftHeap <= 0) return;
      const { heap, total } = client.ledger.passingNow;
      const isHeap = left <= 0 && leftHeap > 0;
      const reason = budgetError(
        'server',
        'the connection is closed because it took the most, and others waited',
        {
          heap: isHeap,
          needed: isHeap ? passingNow.heap : passingNow.total,
          limit: Math.floor((isHeap ? passing.heap : passing.total) * calm),
        },
      );
      left -= total;
      leftHeap -= heap;
      this.#options.onExpel?.(reason);
      client.expel(reason);
    }
  }
}

/** Keeps those with memory in the set. */
function count(clients: Set<ClientMemory>, client: ClientMemory, total: number): void {
  if (total > 0) clients.add(client);
  else clients.delete(client);
}

/** Returns the free part of a limit. */
function left(now: MemoryLimits, limit: MemoryLimits): MemoryLimits {
  return { heap: Math.max(0, limit.heap - now.heap), total: Math.max(0, limit.total - now.total) };
}

function scaled({ heap, total }: MemoryLimits, share: number): MemoryLimits {
  return { heap: heap * share, total: total * share };
}
