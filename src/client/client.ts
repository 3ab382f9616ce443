import type { Duplex } from 'node:stream';
import type { RequestFields, ServerFrames } from './frames.js';
import { type CallOptions, type ConnectionState, greeted, Link, openChannel } from './link.js';
import { type ReconnectPolicy, reconnectPolicy } from './reconnect.js';
import { ClientSession } from './session.js';

export interface ConnectOptions extends CallOptions {
  /** Default 127.0.0.1. */
  host?: string | undefined;
  /** Default 9100. */
  port?: number | undefined;
  /** The WebSocket of a server, such as `ws://127.0.0.1:9103/v1/socket`, in place of host and port. */
  url?: string | undefined;
  /** The secret of a server with `access_token_file`. */
  accessToken?: string | undefined;
  /**
   * Whether to replace a lost connection and create its sessions, storages and agents again. Pending requests and turns
   * reject with ConnectionLostError, because they may or may not have been served; later ones wait for the new connection.
   * true: 10 attempts, 100 ms to 5 s apart. Default false.
   */
  reconnect?: Partial<ReconnectPolicy> | boolean | undefined;
  /**
   * Milliseconds between two pings of this client, so that balancers do not close a quiet connection: less than their idle time.
   * Default: none.
   */
  pingMs?: number | undefined;
  /** Called when the connection is lost, replaced, or given up (with the reason), and when close() has closed it. */
  onState?: ((state: ConnectionState, error?: unknown) => void) | undefined;
}

/** A connection to a server. Its sessions live as long as it does. */
export class Client implements AsyncDisposable, Disposable {
  readonly #link: Link;
  readonly #accessToken: string | undefined;
  /** The server's greeting: protocol and version. */
  readonly hello: ServerFrames['Hello'];

  private constructor(link: Link, hello: ServerFrames['Hello'], accessToken: string | undefined) {
    this.#link = link;
    this.#accessToken = accessToken;
    this.hello = hello;
  }

  /**
   * @throws ConnectionLostError if no lorekeep server answers; the signal's reason; RangeError for a setting of `reconnect`, or `pingMs`
   */
  static async connect({
    host = '127.0.0.1',
    port = 9100,
    url,
    signal,
    accessToken,
    reconnect = false,
    pingMs,
    onState = () => {},
  }: ConnectOptions = {}): Promise<Client> {
    const policy = reconnectPolicy(reconnect);
    if (pingMs !== undefined && !(pingMs >= 1 && pingMs <= 2_147_483_647))
      throw new RangeError(`pingMs: a number from 1 to 2147483647 is expected, not ${pingMs}`);
    const address = url === undefined ? { host, port } : { url };
    const { channel, hello } = await openChannel(address, signal);
    const client = new Client(new Link(address, channel, { policy, onState }), hello, accessToken);
    if (pingMs !== undefined) client.#pingEvery(pingMs);
    return client;
  }

  /**
   * @internal Speaks over an open stream, as to a server of the same process. The connection is not replaced.
   * @throws ConnectionLostError; the signal's reason
   */
  static async over(stream: Duplex, { signal }: CallOptions = {}): Promise<Client> {
    const place = 'the stream';
    const { StreamTransport } = await import('./stream-transport.js');
    const { channel, hello } = await greeted(new StreamTransport(stream), place, signal);
    const options = { policy: undefined, onState: () => {} };
    return new Client(new Link({ host: place, port: 0 }, channel, options), hello, undefined);
  }

  #pingEvery(ms: number): void {
    const timer = setInterval(() => {
      // Pings would pile up while the connection is replaced.
      if (this.state === 'connected') this.ping().catch(() => {});
    }, ms);
    void this.closed.then(() => clearInterval(timer));
  }

  get state(): ConnectionState {
    return this.#link.state;
  }

  /** Resolves when the connection is gone for any reason and will not be replaced. */
  get closed(): Promise<void> {
    return this.#link.closed;
  }

  async createSession(
    fields: RequestFields['CreateSessionRequest'] = {},
    { signal }: CallOptions = {},
  ): Promise<ClientSession> {
    const link = this.#link;
    const token = this.#accessToken;
    const sent = token === undefined ? fields : { accessToken: token, ...fields };
    const made = await link.use(signal, (channel) => channel.request('CreateSessionRequest', sent, signal));
    const session = new ClientSession(link, made, sent);
    link.add(session);
    return session;
  }

  /** Returns the server memory used by this client and by all clients, and their limits. */
  async status({ signal }: CallOptions = {}): Promise<ServerFrames['StatusResponse']> {
    return this.#link.use(signal, (channel) => channel.request('StatusRequest', {}, signal));
  }

  /**
   * Asks the server's inference to rest, 0 (not at all) to 1, so that another program keeps its frame rate. The highest
   * level of all clients counts. Report again at least every 10 s: a silent client's level ends, as with its connection.
   */
  async reportThrottle(level: number, { signal }: CallOptions = {}): Promise<void> {
    await this.#link.use(signal, (channel) => channel.request('ThrottleReport', { level }, signal));
  }

  /**
   * `false`: models leave the GPU, for a program that needs its memory; resolves when it is free. Requests that run there
   * fail with 5011. It counts until the client sends `true` or its connection ends.
   */
  async allowVideoMemory(allowed: boolean, { signal }: CallOptions = {}): Promise<void> {
    await this.#link.use(signal, (channel) => channel.request('VideoMemoryRequest', { allowed }, signal));
  }

  async ping({ signal }: CallOptions = {}): Promise<void> {
    await this.#link.use(signal, (channel) => channel.request('Ping', {}, signal));
  }

  /** Ends every session and the connection. Idempotent. */
  close(): Promise<void> {
    return this.#link.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** For `using`: closes without waiting for it. */
  [Symbol.dispose](): void {
    this.close().catch(() => {});
  }
}

/** Connects to a server and waits for its greeting. */
export function connect(options?: ConnectOptions): Promise<Client> {
  return Client.connect(options);
}
