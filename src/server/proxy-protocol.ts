import type { Socket } from 'node:net';
import { AddressList } from '../base/machine/address-list.js';
import { type RemoteEnd, setRemoteEnd } from '../base/machine/remote-end.js';
import type { Log } from '../log/log.js';
import { beginsProxyHeader, readProxyHeader } from './proxy-header.js';

/** Longest wait for a header, in ms. Balancers send it with the connection; a lost packet is sent again within 3 s. */
const waitMs = 5000;

/** Connections that wait for their header. The one that has waited longest makes room. */
const mostWaiting = 1024;

export interface ProxyProtocolOptions {
  /** Addresses and networks of balancers, which begin each connection with a PROXY header. */
  readonly balancers: readonly string[];
  readonly log: Log;
  readonly waitMs?: number | undefined;
}

/** Learns from the PROXY headers of the operator's balancers who their clients are, for every port. */
export class ProxyProtocol {
  readonly #balancers: AddressList;
  readonly #log: Log;
  readonly #waitMs: number;
  /** The one that has waited longest first. */
  readonly #waiting = new Set<Socket>();

  constructor(options: ProxyProtocolOptions) {
    this.#balancers = new AddressList(options.balancers);
    this.#log = options.log;
    this.#waitMs = options.waitMs ?? waitMs;
  }

  /**
   * Calls `serve` when it is known who the client of a new connection is: at once, or after the header of a balancer. Then
   * `remoteAddress` and `remotePort` of the socket are those of the stated client, if there is one. A balancer's connection without
   * a valid header is closed.
   */
  identify(socket: Socket, serve: (stated: boolean) => void): void {
    const { remoteAddress } = socket;
    if (this.#balancers.isEmpty || remoteAddress === undefined || !this.#balancers.has(remoteAddress))
      serve(false);
    else
      this.#await(socket, (client) => {
        if (client !== undefined) setRemoteEnd(socket, client);
        serve(client !== undefined);
      });
  }

  /** Whether these first bytes of a connection are a PROXY header, for which its address is not listed. Tells the operator. */
  isUnlisted(socket: Socket, bytes: Buffer | undefined): boolean {
    // Fewer bytes may be something else.
    if (bytes === undefined || bytes.length < 6 || !beginsProxyHeader(bytes)) return false;
    const { remoteAddress: client } = socket;
    const remedy = 'add the address if it is your balancer';
    this.#log.warn(
      { client },
      `refused: it begins with a PROXY header, and proxy_protocol does not list it; ${remedy}`,
    );
    return true;
  }

  /** Closes the connections that wait for their header. */
  close(): void {
    for (const socket of this.#waiting) socket.destroy();
  }

  #await(socket: Socket, found: (client: RemoteEnd | undefined) => void): void {
    let received = Buffer.alloc(0);
    const ignoreError = () => {};
    const stop = () => {
      clearTimeout(late);
      this.#waiting.delete(socket);
      socket.off('readable', look);
      socket.off('close', gone);
    };
    const refuse = (reason: string) => {
      stop();
      this.#refuse(socket, reason);
    };
    const look = () => {
      const chunk = socket.read() as Buffer | null;
      if (chunk === null) return;
      received = Buffer.concat([received, chunk]);
      const header = readProxyHeader(received);
      if (header === undefined) return;
      if (typeof header === 'string') return refuse(header);
      stop();
      if (received.length > header.length) socket.unshift(received.subarray(header.length));
      found(header.client);
      socket.off('error', ignoreError);
    };
    const gone = () => {
      stop();
      this.#log.debug(
        { client: socket.remoteAddress, bytes: received.length },
        'closed before a PROXY header',
      );
    };
    const late = setTimeout(() => refuse(`no PROXY header came within ${this.#waitMs} ms`), this.#waitMs);
    const [oldest] = this.#waiting;
    if (this.#waiting.size >= mostWaiting && oldest !== undefined) {
      this.#waiting.delete(oldest);
      this.#refuse(oldest, `${mostWaiting} connections wait for their PROXY header`);
    }
    this.#waiting.add(socket);
    socket.on('error', ignoreError);
    socket.once('close', gone);
    socket.on('readable', look);
  }

  #refuse(socket: Socket, reason: string): void {
    const remedy = 'have the balancer send one (HAProxy: send-proxy-v2), or take its address out of the list';
    this.#log.warn(
      { client: socket.remoteAddress },
      `refused: ${reason}; proxy_protocol lists the address: ${remedy}`,
    );
    socket.destroy();
  }
}
