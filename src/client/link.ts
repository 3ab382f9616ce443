import { connect as openSocket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { onAbort } from '../lifecycle/on-abort.js';
import { protocolVersion, serverSchemas } from '../protocol/frames.js';
import { abortable, Channel, ConnectionLostError } from './channel.js';
import type { ServerFrames } from './frames.js';
import { delayOf, type ReconnectPolicy } from './reconnect.js';

export interface Address {
  host: string;
  port: number;
}

/** Options of every call. */
export interface CallOptions {
  signal?: AbortSignal | undefined;
}

/** connected: requests are sent. reconnecting: they wait. closed: they are refused, for good. */
export type ConnectionState = 'connected' | 'reconnecting' | 'closed';

export interface LinkOptions {
  /** Undefined: the end of the connection is the end. */
  policy: ReconnectPolicy | undefined;
  onState: (state: ConnectionState, error: unknown) => void;
}

/** What lives on the server as long as a connection does, and has to be made again on the next one. */
export interface Restorable {
  /** @throws ConnectionLostError when this connection is gone, too; anything else stays the object's own business */
  restore(channel: Channel): Promise<void>;
}

export interface Greeted {
  channel: Channel;
  hello: ServerFrames['Hello'];
}

/**
 * Opens a connection and waits for the greeting. The signal means nothing afterwards.
 * @throws ConnectionLostError; the signal's reason
 */
export async function openChannel(address: Address, signal?: AbortSignal): Promise<Greeted> {
  signal?.throwIfAborted();
  const socket = openSocket({ ...address, noDelay: true });
  const stopListening = signal && onAbort(signal, () => void socket.destroy());
  try {
    const channel = new Channel(socket);
    const hello = serverSchemas.Hello.safeParse(await channel.hello);
    if (hello.success) return { channel, hello: hello.data };
  } catch (error) {
    socket.destroy();
    signal?.throwIfAborted();
    throw error;
  } finally {
    stopListening?.();
  }
  socket.destroy();
  const { host, port } = address;
  throw new ConnectionLostError(`${host}:${port} does not speak protocol ${protocolVersion} of lorekeep`);
}

/** A connection that may be replaced by a new one when it is lost, with all that lived on it. */
export class Link {
  readonly #address: Address;
  readonly #options: LinkOptions;
  readonly #stop = new AbortController();
  /** In the order in which they were made. */
  readonly #restorables = new Set<Restorable>();
  /** The connection, undefined while it is being replaced. */
  #channel: Channel | undefined;
  #next: Promise<Channel>;
  #lost: ConnectionLostError | undefined;
  #state: ConnectionState = 'connected';
  /** Resolves when there is no connection and will be none. */
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

  /** Whether objects must know how they were made. */
  get restores(): boolean {
    return this.#options.policy !== undefined;
  }

  /** Calls with the connection: at once while there is one, else when there is one again. @throws ConnectionLostError; the signal's reason */
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

  /** Ends the connection, and attempts to replace it. */
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
    this.#enter('closed', this.#lost);
  }

  /** The next connection, or undefined when there is to be none. */
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
        await delay(delayOf(policy, attempt), undefined, { signal });
        return await this.#restored(signal);
      } catch (error) {
        if (signal.aborted) throw new ConnectionLostError('the connection was closed', { cause: error });
        cause = error;
      }
    }
    const { host, port } = this.#address;
    const tried = `${policy.attempts} attempts to reconnect to ${host}:${port} failed`;
    throw new ConnectionLostError(`the connection was lost, and ${tried}`, { cause });
  }

  /** A new connection, with everything on it that was on the last one. */
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
