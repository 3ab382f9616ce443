import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { type HttpFailure, type HttpRefusal, typeOf } from './failure.js';

/** Headers of every reply. */
export function setHeaders(response: ServerResponse): void {
  response.setHeader('content-security-policy', "default-src 'none'; frame-ancestors 'none'");
  response.setHeader('x-content-type-options', 'nosniff');
  response.setHeader('referrer-policy', 'no-referrer');
  response.setHeader('cache-control', 'no-store');
}

/** The connection of a refused request is closed if its body was not read. */
export function sendFailure(response: ServerResponse, failure: HttpRefusal | HttpFailure): void {
  const { status, body } = failure;
  if (!response.req.complete) response.setHeader('connection', 'close');
  if (status === 401) response.setHeader('www-authenticate', 'Bearer');
  if ('retryAfter' in failure && failure.retryAfter !== undefined)
    response.setHeader('retry-after', failure.retryAfter);
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' });
  response.end(`${JSON.stringify(body)}\n`);
}

/** Answers bytes that are no request, or one that came too slowly. */
export function refuseBytes(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const [status, message] = refusals[error.code ?? ''] ?? [
    '400 Bad Request',
    'this is no valid HTTP/1.1 request',
  ];
  endWith(socket, status, message);
}

const refusals: Readonly<Record<string, readonly [status: string, message: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'the request was not sent in time'],
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'the headers are too long'],
};

/** Answers a socket that no request has, and closes it. */
export function endWith(socket: Duplex, status: string, message: string, headers = ''): void {
  const type = typeOf(Number.parseInt(status, 10));
  const body = `${JSON.stringify({ error: { message, type, param: null, code: null } })}\n`;
  const head = `HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-type: application/json\r\nx-content-type-options: nosniff\r\n${headers}`;
  socket.end(`${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  const late = setTimeout(() => socket.destroy(), 2000);
  socket.once('close', () => clearTimeout(late));
}
