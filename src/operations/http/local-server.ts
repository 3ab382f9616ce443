import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { StartupError } from '../../config/startup-error.js';
import type { Log } from '../../log/log.js';
import { refuseCrumbs } from './crumbs.js';
import { hasTooManyHeaders, isLoopback, mostHeaders, refusalOf, tooManyHeaders } from './guard.js';
import type { OperatorShare } from './operator-share.js';

/** Open connections, streams included. A further connection replaces an idle one. */
export const maxConnections = 64;
const idleMs = 30_000;

const usualLimits = {
  /** Longest time to send a request, its head and body; and time between two looks at it. */
  requestMs: 10_000,
  lookMs: 1000,
  /** Longest time until a reply is made and read. Streams have limits of their own. */
  replyMs: 60_000,
};

/** Type of a reply without an end. */
export const eventStream = 'text/event-stream';

export type Route = (request: IncomingMessage, response: ServerResponse, url: URL) => void | Promise<void>;

export interface LocalServerOptions {
  /** Its name in messages: "monitor". */
  name: string;
  bind: string;
  /** 0: any free port. */
  port: number;
  allowRemote: boolean;
  /** By "GET /path". */
  routes: Readonly<Record<string, Route>>;
  /** Serves GET requests that no route takes. */
  otherwise?: Route;
  log: Log;
  /** Requests begin in its slices. */
  share: Pick<OperatorShare, 'slice'>;
  /** Times in ms. */
  limits?: Partial<typeof usualLimits>;
}

/**
 * A small HTTP server for the people who run lorekeep. Remote clients, requests of other web pages and names that DNS may
 * have been made to lie about are refused.
 */
export class LocalServer {
  readonly #options: LocalServerOptions;
  readonly #limits: typeof usualLimits;
  readonly #server: Server;
  /** All connections; and the idle ones, the longest waiting first. */
  readonly #connections = new Set<Socket>();
  readonly #waiting = new Set<Socket>();

  private constructor(options: LocalServerOptions) {
    this.#options = options;
    this.#limits = { ...usualLimits, ...options.limits };
    const { requestMs, lookMs } = this.#limits;
    const serve = (request: IncomingMessage, response: ServerResponse) => void this.#serve(request, response);
    this.#server = createServer(
      {
        requestTimeout: requestMs,
        headersTimeout: requestMs,
        keepAliveTimeout: idleMs,
        connectionsCheckingInterval: lookMs,
        maxHeaderSize: 16_384,
      },
      serve,
    );
    // By itself, Node.js refuses such requests, also pipelined ones, without an end and before the guard.
    this.#server.on('checkExpectation', serve);
    this.#server.maxHeadersCount = mostHeaders + 1;
    this.#server.on('connection', (socket) => this.#welcome(socket));
    this.#server.on('clientError', (_, socket) => socket.destroy());
  }

  /** @throws StartupError if it cannot listen */
  static async open(options: LocalServerOptions): Promise<LocalServer> {
    const server = new LocalServer(options);
    const { name, bind, port } = options;
    await new Promise<void>((resolve, reject) => {
      server.#server.once('error', (error: NodeJS.ErrnoException) => {
        const reason = error.code === 'EADDRINUSE' ? 'another program listens there' : error.message;
        reject(new StartupError(`${name}.port: ${bind}:${port} cannot be opened: ${reason}`));
      });
      server.#server.listen(port, bind, resolve);
    });
    server.#server.removeAllListeners('error').on('error', (err) => options.log.error({ err }, name));
    return server;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** The address, with a slash at its end. */
  get url(): string {
    const { bind } = this.#options;
    return `http://${bind.includes(':') ? `[${bind}]` : bind}:${this.port}/`;
  }

  /** Ends every connection, streams included. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }

  /** Silent connections must not keep a health check out. */
  #welcome(socket: Socket): void {
    if (!this.#options.allowRemote && !isLoopback(socket.remoteAddress)) {
      socket.destroy();
      return;
    }
    if (this.#connections.size >= maxConnections) {
      const [longest = socket] = this.#waiting;
      longest.destroy();
      this.#forget(longest);
      if (longest === socket) return;
    }
    this.#connections.add(socket);
    this.#waiting.add(socket);
    socket.once('close', () => this.#forget(socket));
  }

  #forget(socket: Socket): void {
    this.#connections.delete(socket);
    this.#waiting.delete(socket);
  }

  #occupy(socket: Socket, response: ServerResponse): void {
    this.#waiting.delete(socket);
    const late = setTimeout(() => {
      if (!isStream(response)) socket.destroy();
    }, this.#limits.replyMs).unref();
    response.once('close', () => {
      clearTimeout(late);
      if (this.#connections.has(socket)) this.#waiting.add(socket);
    });
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { socket } = request;
    // Replies to pipelined requests would wait in memory, any number of them. Nobody but an attacker sends such requests.
    if (!this.#waiting.has(socket)) return void socket.destroy();
    this.#occupy(socket, response);
    refuseCrumbs(request);
    setSecurityHeaders(response);
    if (hasTooManyHeaders(request)) return sendText(response, 431, tooManyHeaders);
    const refusal = refusalOf(request);
    if (refusal !== undefined) return sendText(response, 403, refusal);
    const url = parsed(request.url);
    if (url === undefined) return sendText(response, 400, 'the address is not valid');
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    const { routes, otherwise, log, name, share } = this.#options;
    const key = `${method} ${url.pathname}`;
    const route = Object.hasOwn(routes, key) ? routes[key] : method === 'GET' ? otherwise : undefined;
    if (route === undefined) return sendText(response, 404, 'there is no such page');
    try {
      await share.slice(() => (response.destroyed ? undefined : route(request, response, url)));
    } catch (err) {
      if (response.destroyed) return; // the client has gone
      log.error({ err }, `${name}: a request failed`);
      if (!response.headersSent) sendText(response, 500, 'the request failed; the log says why');
      else response.destroy();
    }
  }
}

/** Whether a reply has no end: its writer bounds its time. */
const isStream = (response: ServerResponse) => response.getHeader('content-type') === eventStream;

/** Only a path names a page: an address with a host, which `//` begins, too, would name one of another server. */
function parsed(path = ''): URL | undefined {
  if (!/^\/(?!\/)/.test(path)) return undefined;
  const address = `http://localhost${path}`;
  return URL.canParse(address) ? new URL(address) : undefined;
}

function setSecurityHeaders(response: ServerResponse): void {
  const policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:";
  response.setHeader(
    'content-security-policy',
    `${policy}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  );
  response.setHeader('x-content-type-options', 'nosniff');
  response.setHeader('x-frame-options', 'DENY');
  response.setHeader('referrer-policy', 'no-referrer');
  response.setHeader('cross-origin-opener-policy', 'same-origin');
  response.setHeader('cross-origin-resource-policy', 'same-origin');
  response.setHeader('cache-control', 'no-store');
}

/** Returns a body; undefined if it is longer than `most` bytes. It is read to its end in any case, so that a reply arrives. */
export async function readBody(request: IncomingMessage, most: number): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    length += (chunk as Buffer).length;
    if (length <= most) chunks.push(chunk as Buffer);
  }
  return length > most ? undefined : Buffer.concat(chunks).toString('utf8');
}

/** The connection of a refused request is closed: it would keep its place from others. */
export function sendText(response: ServerResponse, status: number, text: string): void {
  if (status >= 400) response.setHeader('connection', 'close');
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${text}\n`);
}

/** BigInts, as integers of metadata beyond 2^53 are, become decimal strings. */
export function sendJson(response: ServerResponse, value: unknown, status = 200): void {
  const text = JSON.stringify(value, (_, item: unknown) => (typeof item === 'bigint' ? String(item) : item));
  response.writeHead(status, { 'content-type': 'application/json' }).end(`${text}\n`);
}
