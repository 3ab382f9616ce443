import type { X509Certificate } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isOwnHost } from '../../operations/http/guard.js';

export interface GuardOptions {
  /** Origins of web pages that may call. */
  readonly origins: readonly string[];
  /** The certificate, whose names clients may use; undefined without TLS. */
  readonly certificate: X509Certificate | undefined;
}

/** What the guard found: a refusal, or the origin that the reply names. */
export interface GuardVerdict {
  readonly refusal?: string;
  /** A listed origin, to be named in the reply. */
  readonly origin?: string;
  /** The request comes from an opaque origin, which counts only with a key. */
  readonly needsSecret?: boolean;
}

const otherPages = 'requests of other web pages are refused (http.cors_origins)';

/**
 * Judges the headers that browsers set. `fromFile`: the address takes the one request that a file of this machine sends.
 * DNS rebinding makes a browser call under a name of the attacker.
 */
export function judge(
  { headers, headersDistinct }: IncomingMessage,
  { origins, certificate }: GuardOptions,
  fromFile = false,
): GuardVerdict {
  const { host = '', origin, 'sec-fetch-site': site } = headers;
  const named = isOwnHost(host) || isCertified(host, certificate);
  // Node.js shows only the first of several.
  if (!named || headersDistinct.host?.length !== 1)
    return {
      refusal:
        'the Host header names another server; use an IP address, localhost or a name of the certificate',
    };
  const own = `${certificate === undefined ? 'http' : 'https'}://${host}`;
  if (origin === 'null' && fromFile) return {};
  if (origin !== undefined && origin !== own) {
    if (!origins.includes(origin)) return { refusal: otherPages };
    return { origin, needsSecret: origin === 'null' };
  }
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return { refusal: otherPages };
  return {};
}

function isCertified(host: string, certificate: X509Certificate | undefined): boolean {
  const name = /^([a-z\d.-]+)(?::\d{1,5})?$/i.exec(host)?.[1];
  return name !== undefined && certificate?.checkHost(name) !== undefined;
}

const methods = 'GET, POST, PUT, DELETE, OPTIONS';

/** Headers of the reply to a preflight of a listed origin. */
export function preflightHeaders({ headers }: IncomingMessage): Record<string, string> {
  const asked = String(headers['access-control-request-headers'] ?? '');
  const names = asked
    .split(',')
    .map((name) => name.trim())
    .filter((name) => /^[\w-]{1,64}$/.test(name));
  return {
    'access-control-allow-methods': methods,
    'access-control-max-age': '600',
    ...(names.length > 0 && { 'access-control-allow-headers': names.slice(0, 64).join(', ') }),
    ...(headers['access-control-request-private-network'] === 'true' && {
      'access-control-allow-private-network': 'true',
    }),
  };
}
