import { onAbort } from '../../lib/basics.js';
import { protocolVersion } from '../protocol/version.js';
import { abortable, Channel, ConnectionLostError } from './channel.js';
import type { ServerFrames } from './frames.js';
import { openTransport } from './open-transport.js';
import { delayOf, type ReconnectPolicy } from './reconnect.js';
import { type Address, shownAddress, type Transport } from './transport.js';

/** Options of every call. */
export interface CallOptions {
  /** Aborting rejects the call with the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** connected: requests are sent. reconnecting: they wait. closed: they are refused permanently. */
export type ConnectionState = 'connected' | 'reconnecting' | 'closed';

export interface LinkOptions {
  /** Undefined: a lost connection is not replaced. */
  policy: ReconnectPolicy | undefined;
  onState: (state: ConnectionState, error: unknown) => void;
}

/** Server-side state that ends with its connection and is restored on the next one. */
export interface Restorable {
  /** @throws ConnectionLostError if this connection is lost too; the object handles other errors itself */
  restore(channel: Channel): Promise<void>;
}

export interface Greeted {
  channel: Channel;
  hello: ServerFrames['Hello'];
}

/**
 * Opens a connection and waits for the greeting. The signal has no effect afterwards.
 * @throws ConnectionLostError; the signal's reason
 */
export async function openChannel(address: Address, signal?: AbortSignal): Promise<Greeted> {
  signal?.throwIfAborted();
  const transport = await openTransport(address);
  if (signal?.aborted) transport.destroy();
  signal?.throwIfAborted();
  return greeted(transport, shownAddress(address), signal);
}

/** The same over an open transport. `place` names it in errors. */
export async function greeted(transport: Transport, place: string, signal?: AbortSignal): Promise<Greeted> {
  const stopListening = onAbort(signal, () => void transport.destroy());
  try {
    const channel = new Channel(transport);
    const hello = await channel.hello;
    if (hello.protocol === protocolVersion && hello.server === 'lorekeep') return { channel, hello };
  } catch (error) {
    transport.destroy();
    signal?.throwIfAborted();
    throw error;
  } finally {
    stopListening();
  }
  transport.destroy();
  throw new ConnectionLostError(`${place} does not speak protocol ${protocolVersion} of lorekeep`);
}

/** A connection that is replaced when lost, if the policy says so, with its state restored. */
export class Link {
  readonly #address: Address;
  readonly #options: LinkOptions;
  readonly #stop = new AbortController();
  /** In order of creation. */
  readonly #restorables = new Set<Restorable>();
  /** The connection, undefined while it is being replaced. */
  #channel: Channel | undefined;
  #next: Promise<Channel>;
  #lost: ConnectionLostError | undefined;
  #state: ConnectionState = 'connected';
  /** Resolves when the connection is gone and will not be replaced. */
  readonly closed: Promise<void>;

  constructor(address: Address, channel: Channel, options: LinkOptions) {
    this.#address = address;
    this.#options = options;
    this.#channel = channel;
    this.#next = Promise.resolve(channel);
    this.closed = this.#follow(channel);
  }

  get state(): ConnectionState {
    return this.#state;
  }

  /** Whether objects must remember how they were created. */
  get restores(): boolean {
    return this.#options.policy !== undefined;
  }

  /** Calls with the connection, waiting while it is being replaced. @throws ConnectionLostError; the signal's reason */
  async use<T>(signal: AbortSignal | undefined, call: (channel: Channel) => Promise<T>): Promise<T> {
    if (this.#channel !== undefined) return call(this.#channel);
    if (this.#lost !== undefined) throw this.#lost;
    const next = this.#next;
    const channel = await abortable<Channel>(signal, (resolve, reject) => void next.then(resolve, reject));
    signal?.throwIfAborted();
    return call(channel);
  }

  add(restorable: Restorable): void {
    if (this.restores) this.#restorables.add(restorable);
  }

  remove(restorable: Restorable): void {
    this.#restorables.delete(restorable);
  }

  /** Closes the connection and ends attempts to replace it. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#channel?.close();
    await this.closed;
  }

  async #follow(first: Channel): Promise<void> {
    let channel: Channel | undefined = first;
    while (channel !== undefined) {
      await channel.closed;
      channel = await this.#replace(channel.lost);
    }
    this.#enter('closed', this.#stop.signal.aborted ? undefined : this.#lost);
  }

  /** Opens the next connection; undefined if there will be none. */
  async #replace(lost = new ConnectionLostError('the connection was closed')): Promise<Channel | undefined> {
    this.#channel = undefined;
    const { policy } = this.#options;
    const { signal } = this.#stop;
    this.#lost = lost;
    if (policy === undefined || signal.aborted) return undefined;
    const replacing = this.#reconnect(policy, signal);
    this.#next = replacing;
    this.#lost = undefined;
    this.#enter('reconnecting', undefined);
    try {
      this.#channel = await replacing;
      this.#enter('connected', undefined);
      return this.#channel;
    } catch (error) {
      this.#lost = error as ConnectionLostError;
      return undefined;
    }
  }

  async #reconnect(policy: ReconnectPolicy, signal: AbortSignal): Promise<Channel> {
    let cause: unknown;
    for (let attempt = 0; attempt < policy.attempts; attempt++) {
      try {
        await delay(delayOf(policy, attempt), signal);
        return await this.#restored(signal);
      } catch (error) {
        if (signal.aborted) throw new ConnectionLostError('the connection was closed', { cause: error });
        cause = error;
      }
    }
    const tried = `${policy.attempts} attempts to reconnect to ${shownAddress(this.#address)} failed`;
    throw new ConnectionLostError(`the connection was lost, and ${tried}`, { cause });
  }

  /** Opens a new connection and restores the state of the last one. */
  async #restored(signal: AbortSignal): Promise<Channel> {
    const { channel } = await openChannel(this.#address, signal);
    const stopListening = onAbort(signal, () => void channel.close());
    try {
      for (const restorable of this.#restorables) await restorable.restore(channel);
      return channel;
    } catch (error) {
      await channel.close();
      throw error;
    } finally {
      stopListening();
    }
  }

  #enter(state: ConnectionState, error: unknown): void {
    this.#state = state;
    queueMicrotask(() => this.#options.onState(state, error));
  }
}

/** Resolves after a time. Rejects when the signal is aborted. */
function delay(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stopListening = onAbort(signal, () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
    const timer = setTimeout(() => {
      stopListening();
      resolve();
    }, ms);
    if (signal.aborted) {
      clearTimeout(timer);
      reject(signal.reason);
    }
  });
}
