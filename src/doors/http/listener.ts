import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { isLocalAddress } from '../../base/machine/local-network.js';
import { type RemoteEnd, setRemoteEnd } from '../../base/machine/remote-end.js';
import { withSlices } from '../../base/waiting/next-slice.js';
import { requireSecret } from '../../config/access.js';
import { StartupError } from '../../config/startup-error.js';
import { refuseCrumbs } from '../../operations/http/crumbs.js';
import {
  bearer,
  hasTooManyHeaders,
  isLoopback,
  mostHeaders,
  tooManyHeaders,
} from '../../operations/http/guard.js';
import { type ServerError, serverError } from '../../protocol/errors.js';
import { refusalOf } from '../../storages/failure.js';
import type { DoorHost } from '../host.js';
import { endWith, refuseBytes, sendFailure, setHeaders } from './answers.js';
import { DoorRequest } from './door-request.js';
import { Exchange } from './exchange.js';
import { HttpRefusal, httpFailure } from './failure.js';
import { type GuardOptions, type GuardVerdict, judge, preflightHeaders } from './guard.js';
import { type Route, RouteTable } from './route.js';
import { SocketClient } from './socket-client.js';
import { followTls, readTls, type Tls } from './tls.js';
import { TurnedAway } from './turned-away.js';

/** Longest time to send the headers, in ms. */
const headersMs = 10_000;

/** Pools of connections keep idle ones for up to 90 s (Go); if the server closed first, a request could meet the end. */
const idleMs = 120_000;

/** Longest wait of close() for replies under way, in ms. */
const farewellMs = 1000;

const maxHeaderBytes = 16_384;

/** How often limits of time are checked, in ms. */
const checkMs = 2_000;

/** Serves an upgrade to another protocol, such as WebSocket. */
export type Upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

export interface HttpListenerOptions {
  readonly host: DoorHost;
  readonly routes: readonly Route[];
  /** By path. */
  readonly upgrades: Readonly<Record<string, Upgrade>>;
}

/** The HTTP server of the doors: who may connect, which page may ask, and which route serves. */
export class HttpListener {
  readonly #host: DoorHost;
  readonly #routes: RouteTable;
  readonly #upgrades: HttpListenerOptions['upgrades'];
  readonly #server: Server;
  #guard: GuardOptions;
  readonly #clients = new WeakMap<Socket, SocketClient>();
  /** Connections with a request under way, and its reply; those of another protocol have none. */
  readonly #busy = new Map<Socket, ServerResponse | undefined>();
  readonly #sockets = new Set<Socket>();
  /** Connections that end with the reply to their last request. */
  readonly #refused = new WeakSet<Duplex>();
  /** The clients that balancers have stated, by their connections. */
  readonly #stated = new Map<string, RemoteEnd>();
  readonly #turnedAway = new TurnedAway();
  #closed: Promise<void> | undefined;
  #unfollowTls = () => {};

  private constructor({ host, routes, upgrades }: HttpListenerOptions, tls: Tls | undefined) {
    this.#host = host;
    this.#routes = new RouteTable(routes);
    this.#upgrades = upgrades;
    this.#guard = { origins: host.config.http.cors_origins, certificate: tls?.certificate };
    const options: ServerOptions = {
      requestTimeout: host.config.limits.frame_timeout_ms,
      headersTimeout: Math.min(headersMs, host.config.limits.frame_timeout_ms),
      keepAliveTimeout: idleMs,
      connectionsCheckingInterval: checkMs,
      maxHeaderSize: maxHeaderBytes,
      noDelay: true,
      // By itself, Node.js refuses a request without Host, with an empty reply.
      requireHostHeader: false,
      IncomingMessage: DoorRequest,
    };
    const serve = (request: IncomingMessage, response: ServerResponse) => void this.#serve(request, response);
    this.#server =
      tls === undefined
        ? createServer(options, serve)
        : createTlsServer(
            { ...options, cert: tls.cert, key: tls.key, minVersion: 'TLSv1.2', handshakeTimeout: headersMs },
            serve,
          );
    this.#server.maxHeadersCount = mostHeaders + 1;
    const [serveConnection] = this.#server.listeners('connection') as ((socket: Socket) => void)[];
    this.#server.removeAllListeners('connection');
    this.#server.on('connection', (socket: Socket) =>
      this.#meet(socket, () => serveConnection?.call(this.#server, socket)),
    );
    // Under TLS, requests have another socket than their connection.
    const [serveSecure] = this.#server.listeners('secureConnection') as ((socket: Socket) => void)[];
    this.#server.removeAllListeners('secureConnection');
    this.#server.on('secureConnection', (socket: Socket) => {
      if (this.#turnedAway.tellAfterHandshake(socket, peerOf(socket))) return;
      serveSecure?.call(this.#server, socket);
      this.#restate(socket);
    });
    this.#server.on('clientError', (error: ParseError, socket: Duplex) => {
      if (this.#refused.has(socket)) return;
      if (host.proxies.isUnlisted(socket as Socket, error.rawPacket)) socket.destroy();
      else refuseBytes(error, socket);
    });
    // By itself, Node.js answers both before the guard has seen the request.
    this.#server.on('checkContinue', serve).on('checkExpectation', serve);
    this.#server.on('upgrade', (request, socket, head) => this.#upgrade(request, socket, head));
  }

  /** @throws StartupError for a busy port, a certificate that cannot be read, or remote access without a secret */
  static async open(options: HttpListenerOptions): Promise<HttpListener> {
    const { config, isClosed, log } = options.host;
    const { bind, port } = config.http;
    requireSecret(config.http, isClosed);
    const tls = await readTls(config.http);
    const listener = new HttpListener(options, tls);
    const server = listener.#server;
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error: NodeJS.ErrnoException) => {
        const reason = error.code === 'EADDRINUSE' ? 'another program listens there' : error.message;
        reject(new StartupError(`http.port: ${bind}:${port} cannot be opened: ${reason}`));
      });
      server.listen({ port, host: bind, exclusive: true }, resolve);
    });
    server.removeAllListeners('error').on('error', (err) => log.error({ err }, 'http'));
    if (tls !== undefined)
      listener.#unfollowTls = followTls(config.http, tls, { take: (next) => listener.#renew(next), log });
    return listener;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Connections that are open keep the certificate that they began with. */
  #renew({ cert, key, certificate }: Tls): void {
    (this.#server as TlsServer).setSecureContext({ cert, key, minVersion: 'TLSv1.2' });
    this.#guard = { ...this.#guard, certificate };
  }

  /** Accepts no further connections, and ends idle ones. */
  stopAccepting(): void {
    this.#unfollowTls();
    this.#closed ??= new Promise((resolve) => this.#server.close(() => resolve()));
    this.#server.closeIdleConnections();
  }

  /** Ends every connection, after the replies that are being sent. */
  async close(): Promise<void> {
    this.stopAccepting();
    // A request under TLS has another socket than its connection.
    const busy = new Set([...this.#busy.keys()].map(peerOf));
    for (const socket of this.#sockets) {
      if (!busy.has(peerOf(socket))) socket.destroy();
    }
    const destroy = () => {
      for (const socket of this.#sockets) socket.destroy();
    };
    let late = setTimeout(() => {
      late = setTimeout(destroy, this.#tellLate() ? farewellMs : 0);
    }, farewellMs);
    await this.#closed;
    clearTimeout(late);
  }

  /** Answers the requests whose replies have not begun. Returns whether there were any. */
  #tellLate(): boolean {
    const late = [...this.#busy.values()].filter((response) => response?.headersSent === false);
    for (const response of late) {
      if (response !== undefined)
        sendFailure(response, httpFailure(serverError(1008, 'the server is stopping')));
    }
    return late.length > 0;
  }

  /** Both the peer and the client that it states must be of an allowed network. */
  #meet(socket: Socket, serve: () => void): void {
    socket.on('error', () => {}); // a client may go away at any time
    if (!this.#isAllowed(socket)) return;
    const connection = peerOf(socket);
    this.#host.proxies.identify(socket, (stated) => {
      if (stated) {
        if (!this.#isAllowed(socket)) return;
        this.#stated.set(connection, {
          address: socket.remoteAddress as string,
          port: socket.remotePort as number,
        });
        socket.once('close', () => this.#stated.delete(connection));
      }
      if (this.#welcome(socket, connection)) serve();
    });
  }

  /** Gives the socket of a connection under TLS the client of the connection. */
  #restate(socket: Socket): void {
    const client = this.#stated.get(peerOf(socket));
    if (client !== undefined) setRemoteEnd(socket, client);
  }

  /** Refuses a client that is not of an allowed network. */
  #isAllowed(socket: Socket): boolean {
    const { config, log } = this.#host;
    const { remoteAddress = '' } = socket;
    if (isLoopback(remoteAddress) || (config.http.allow_remote && isLocalAddress(remoteAddress))) return true;
    log.warn({ client: remoteAddress }, 'http: refused: not of an allowed network');
    socket.destroy();
    return false;
  }

  /** Takes a slot for a client. Returns whether the connection goes on; without a slot, the client is told. */
  #welcome(socket: Socket, connection: string): boolean {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    try {
      socket.once('close', this.#host.takeSlot(socket));
      return true;
    } catch (error) {
      const { remoteAddress: client } = socket;
      const { code, message } = error as ServerError;
      this.#host.log.warn({ client, code }, 'http: a client was turned away');
      if (this.#guard.certificate !== undefined) return this.#turnedAway.await(socket, connection, message);
      TurnedAway.tell(socket, message);
      return false;
    }
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { socket } = request;
    // Replies to pipelined requests would wait in memory, any number of them.
    if (this.#busy.has(socket)) return void socket.destroy();
    this.#busy.set(socket, response);
    refuseCrumbs(request);
    response.once('close', () => {
      this.#busy.delete(socket);
      if (this.#closed !== undefined) socket.destroySoon();
    });
    setHeaders(response);
    if (hasTooManyHeaders(request))
      return sendFailure(response, new HttpRefusal(431, 'too_many_headers', tooManyHeaders));
    if (hasOtherCoding(request)) return this.#refuseCoding(socket, response);
    if (request.headers.host === undefined)
      return sendFailure(response, new HttpRefusal(400, 'bad_request', 'a Host header is expected'));
    const verdict = judge(request, this.#guard, this.#isFromFile(request));
    if (verdict.refusal !== undefined)
      return sendFailure(response, new HttpRefusal(403, 'forbidden', verdict.refusal));
    if (this.#guard.origins.length > 0) response.setHeader('vary', 'Origin');
    if (verdict.origin !== undefined) {
      response.setHeader('access-control-allow-origin', verdict.origin);
      response.setHeader('access-control-expose-headers', 'retry-after, www-authenticate');
    }
    let route: Route | undefined;
    try {
      if (request.method === 'OPTIONS') return this.#preflight(request, response, verdict);
      const url = urlOf(request.url);
      const found = this.#find(request.method, url, response);
      route = found.route;
      const grant = this.#admit(request, route, verdict);
      const client = this.#clientOf(socket);
      client.begin(response);
      const exchange = new Exchange(this.#host, request, response, client, {
        url,
        params: found.params,
        grant,
      });
      await this.#run(route, exchange, response);
    } catch (thrown) {
      this.#fail(thrown, response, route);
    }
  }

  #refuseCoding(socket: Socket, response: ServerResponse): void {
    // The parser may find no sense in the rest.
    this.#refused.add(socket);
    const message = 'Transfer-Encoding: only chunked is accepted';
    sendFailure(response, new HttpRefusal(501, 'not_implemented', message));
  }

  async #run(route: Route, exchange: Exchange, response: ServerResponse): Promise<void> {
    try {
      await withSlices(exchange.client.account.loop, () => route.serve(exchange));
    } catch (thrown) {
      if (exchange.gone.aborted) return;
      const { fieldNames = route.fieldNames } = exchange;
      this.#fail(thrown, response, fieldNames === undefined ? route : { ...route, fieldNames });
    } finally {
      await exchange.end();
    }
  }

  /** Whether the address takes requests of a file of this machine. */
  #isFromFile({ method, url = '' }: IncomingMessage): boolean {
    const found = this.#routes.find(method, url);
    return found !== undefined && 'route' in found && found.route.fromFile === true;
  }

  #find(method: string | undefined, url: URL, response: ServerResponse) {
    const found = this.#routes.find(method === 'HEAD' ? 'GET' : method, url.pathname);
    if (found === undefined && Object.hasOwn(this.#upgrades, url.pathname)) {
      response.setHeader('upgrade', 'websocket');
      throw new HttpRefusal(426, 'upgrade_required', `${url.pathname} is for WebSockets`);
    }
    if (found === undefined)
      throw new HttpRefusal(
        404,
        'unknown_url',
        `there is no ${method} ${url.pathname}; /openapi.json lists the addresses`,
      );
    if ('route' in found) return found;
    response.setHeader('allow', found.methods.join(', '));
    throw new HttpRefusal(405, 'method_not_allowed', `${found.methods.join(' or ')} is expected`);
  }

  /** @throws HttpRefusal; as DoorHost.admit() */
  #admit(request: IncomingMessage, { right, operation }: Route, { needsSecret }: GuardVerdict) {
    const { remoteAddress = '' } = request.socket;
    if (right === undefined) return nobody;
    if (needsSecret && !this.#host.isClosed)
      throw new HttpRefusal(
        403,
        'forbidden',
        'the origin "null" needs a key: set http.keys_file or access_token_file',
      );
    const grant = this.#host.admit(remoteAddress, bearer(request));
    if (right !== 'any' && !grant.rights.has(right))
      throw new HttpRefusal(403, 'right_missing', `${operation}: the key has no right "${right}"`);
    return grant;
  }

  #preflight(request: IncomingMessage, response: ServerResponse, { origin }: GuardVerdict): void {
    if (origin !== undefined) response.writeHead(204, preflightHeaders(request)).end();
    else
      sendFailure(
        response,
        new HttpRefusal(405, 'method_not_allowed', 'GET, POST, PUT or DELETE is expected'),
      );
  }

  #clientOf(socket: Socket): SocketClient {
    const known = this.#clients.get(socket) ?? new SocketClient(socket, this.#host);
    this.#clients.set(socket, known);
    return known;
  }

  #fail(thrown: unknown, response: ServerResponse, route: Route | undefined): void {
    if (response.writableEnded) return;
    if (response.headersSent) {
      response.destroy();
    } else if (thrown instanceof HttpRefusal) {
      sendFailure(response, thrown);
    } else {
      const error = refusalOf(thrown, this.#host.log, { route: route?.operation });
      sendFailure(response, httpFailure(error, route?.fieldNames));
    }
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => {});
    const [path = '', query] = (request.url ?? '').split('?');
    const upgrade = Object.hasOwn(this.#upgrades, path) ? this.#upgrades[path] : undefined;
    const { refusal, needsSecret } = judge(request, this.#guard);
    if (hasTooManyHeaders(request)) endWith(socket, '431 Request Header Fields Too Large', tooManyHeaders);
    else if (refusal !== undefined) endWith(socket, '403 Forbidden', refusal);
    else if (needsSecret && !this.#host.isClosed)
      endWith(socket, '403 Forbidden', 'the origin "null" needs a key');
    // Logs and proxies keep addresses: a key has no place there.
    else if (query !== undefined)
      endWith(socket, '400 Bad Request', 'the address takes no query; the key travels in the first message');
    else if (upgrade === undefined) endWith(socket, '404 Not Found', 'there is no such socket');
    else if (this.#host.isStopping)
      endWith(socket, '503 Service Unavailable', 'the server is stopping', 'retry-after: 1\r\n');
    else {
      this.#busy.set(socket as Socket, undefined);
      socket.once('close', () => this.#busy.delete(socket as Socket));
      upgrade(request, socket, head);
    }
  }
}

const peerOf = ({ remoteAddress, remotePort, localAddress, localPort }: Socket) =>
  [remoteAddress, remotePort, localAddress, localPort].join('|');

/** An error of the parser of HTTP. */
type ParseError = NodeJS.ErrnoException & { rawPacket?: Buffer };

/** Whether the body has another coding than chunks: Node.js would pass it on as it is, and a proxy before it may not. */
const hasOtherCoding = ({ headers }: IncomingMessage) =>
  !['', 'chunked'].includes(headers['transfer-encoding']?.trim().toLowerCase() ?? '');

const nobody = { rights: new Set<never>() };

/** Only a path names a resource: an address with a host, which `//` begins, too, would name one of another server. */
function urlOf(path = ''): URL {
  const address = `http://localhost${path}`;
  if (!/^\/(?!\/)/.test(path) || !URL.canParse(address))
    throw new HttpRefusal(400, 'bad_url', 'the address is not valid');
  return new URL(address);
}
