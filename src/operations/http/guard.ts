import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * Most headers of a request. A server whose requests are guarded keeps one more (`maxHeadersCount`): Node.js drops the others
 * silently, and a guard would miss its header among them.
 */
export const mostHeaders = 256;

/** Whether a request, of a server that keeps more, has too many headers. */
export const hasTooManyHeaders = ({ rawHeaders }: IncomingMessage): boolean =>
  rawHeaders.length > 2 * mostHeaders;

export const tooManyHeaders = `the request has more than ${mostHeaders} headers`;

/** Returns the reason to refuse a request, or undefined. The address of the socket is checked apart, by isLoopback(). */
export function refusalOf({ headers, headersDistinct }: IncomingMessage): string | undefined {
  const { host, origin, 'sec-fetch-site': site } = headers;
  // Node.js shows only the first of several.
  if (!isOwnHost(host) || headersDistinct.host?.length !== 1)
    return 'the Host header names another server; use an IP address or localhost';
  if (origin !== undefined && origin !== `http://${host}`) return 'requests of other web pages are refused';
  if (site !== undefined && site !== 'same-origin' && site !== 'none')
    return 'requests of other web pages are refused';
  return undefined;
}

/**
 * DNS rebinding makes a browser call this server under a name of the attacker, so a name other than localhost is refused.
 * An address cannot be rebound.
 */
export function isOwnHost(host: string | undefined): boolean {
  const parts = /^(\[[\da-f:.]+\]|[^:[\]]+)(?::\d{1,5})?$/i.exec(host ?? '');
  const name = parts?.[1]?.replace(/^\[|\]$/g, '').toLowerCase() ?? '';
  return name === 'localhost' || isIP(name) !== 0;
}

/** Returns the secret of `Authorization: Bearer SECRET`. */
export function bearer({ headers }: Pick<IncomingMessage, 'headers'>): string | undefined {
  return /^bearer +(\S{1,4096})$/i.exec(headers.authorization?.trim() ?? '')?.[1];
}

export function isLoopback(address: string | undefined): boolean {
  if (address === undefined || !ipaddr.isValid(address)) return false;
  return ipaddr.process(address).range() === 'loopback';
}
