import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { isLocalAddress } from '../base/machine/local-network.js';
import type { ServerConfig } from '../config/schema.js';
import { StartupError } from '../config/startup-error.js';
import type { Log } from '../log/log.js';
import { isLoopback } from '../operations/http/guard.js';
import { awaitFirstByte } from './first-byte.js';
import type { ProxyProtocol } from './proxy-protocol.js';

export interface ListenerOptions {
  port: number;
  access: ServerConfig['network_access'];
  log: Log;
  proxies: ProxyProtocol;
  accept(socket: Socket): void;
  /** The text for a client that sends HTTP to this port. */
  httpAnswer(): string;
}

const loopback = '127.0.0.1';

/** All interfaces, with IPv6 and IPv4; without IPv6, with IPv4 only. */
const everywhere = ['::', '0.0.0.0'] as const;

/** Addresses to listen on; the first address that this machine has is used. */
export const hostsOf = (access: ServerConfig['network_access']): readonly string[] =>
  access === 'local' ? [loopback] : everywhere;

/** Whether a system error code means that the machine lacks the address. */
export const isAddressMissing = (code: string | undefined): boolean =>
  code === 'EAFNOSUPPORT' || code === 'EADDRNOTAVAIL';

/** Accepts clients from this machine, or from the local network, and refuses all others. */
export class Listener {
  readonly #options: ListenerOptions;
  readonly #server: Server;
  #closed: Promise<void> | undefined;

  private constructor(options: ListenerOptions) {
    this.#options = options;
    this.#server = createServer((socket) => this.#admit(socket));
  }

  /** Resolves when clients can connect. @throws StartupError for a busy port or missing rights */
  static async open(options: ListenerOptions): Promise<Listener> {
    const listener = new Listener(options);
    const hosts = hostsOf(options.access);
    for (const host of hosts) {
      const error = await listener.#listen(host);
      if (error === undefined) return listener;
      if (!isAddressMissing(error.code) || host === hosts.at(-1))
        throw listenError(error, host, options.port);
    }
    return listener;
  }

  /** The address and port it listens on. */
  get address(): { host: string; port: number } {
    const { address, port } = this.#server.address() as AddressInfo;
    return { host: address, port };
  }

  /** Stops accepting clients. Resolves when the accepted ones have disconnected. */
  close(): Promise<void> {
    this.#closed ??= new Promise((resolve) => this.#server.close(() => resolve()));
    return this.#closed;
  }

  /** Both the peer and the client that it states must be of the network. */
  #admit(socket: Socket): void {
    const { access, proxies } = this.#options;
    // A server that listens on loopback has no other peers.
    if (access === 'local_network' && !this.#isOfNetwork(socket)) return;
    proxies.identify(socket, (stated) => {
      if (stated && !this.#isOfNetwork(socket)) return;
      const { accept, httpAnswer } = this.#options;
      awaitFirstByte(socket, {
        accept: () => accept(socket),
        isRefused: (bytes) => proxies.isUnlisted(socket, bytes),
        httpAnswer,
      });
    });
  }

  /** Refuses a client that is not of the network that `network_access` names. */
  #isOfNetwork(socket: Socket): boolean {
    const { remoteAddress } = socket;
    const { access, log } = this.#options;
    const isOf = access === 'local' ? isLoopback : isLocalAddress;
    if (remoteAddress !== undefined && isOf(remoteAddress)) return true;
    socket.on('error', () => {});
    socket.destroy();
    const network = access === 'local' ? 'this machine (network_access)' : 'the local network';
    log.warn({ client: remoteAddress }, `refused: not of ${network}`);
    return false;
  }

  #listen(host: string): Promise<NodeJS.ErrnoException | undefined> {
    const server = this.#server;
    return new Promise((resolve) => {
      server.once('error', resolve);
      server.listen({ host, port: this.#options.port, exclusive: true }, () => {
        server.off('error', resolve);
        // For example out of file descriptors. Connected clients are not affected.
        server.on('error', (error) => this.#options.log.error({ err: error }, 'a client could not connect'));
        resolve(undefined);
      });
    });
  }
}

function listenError(error: NodeJS.ErrnoException, host: string, port: number): StartupError {
  if (error.code === 'EADDRINUSE') {
    return new StartupError(
      `port ${port} on ${host} is in use: stop the other program, or choose one with --port`,
    );
  }
  if (error.code === 'EACCES')
    return new StartupError(`port ${port} on ${host} needs more rights than this user has`);
  return new StartupError(`cannot listen on ${host}, port ${port}: ${error.message}`);
}
