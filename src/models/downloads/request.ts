import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { LorekeepError } from '../../../lib/basics.js';
import { untilAborted } from '../../base/waiting/until-aborted.js';
import { type Address, shownAddress } from './address.js';
import { isInside, lookupOf, otherSide } from './inner-address.js';
import { ProxyRefusal, tunnels } from './proxy-tunnels.js';

const maxRedirects = 8;
const connectMs = 20_000;
const headersMs = 60_000;

export interface Answer {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Readable;
  /** SHA-256 of the whole file, which model hubs send before they redirect. */
  linkedSha256: string | undefined;
  linkedSize: number | undefined;
  /** Number of redirects that led here. */
  redirects: number;
}

/** An error of a connection. */
export type RequestError = Error & {
  code?: string;
  /** Whether it is one of a host that the source redirects to. */
  redirected?: boolean;
};

interface HttpClient {
  request: typeof import('undici').request;
  /** For a source that has addresses outside. */
  anywhere: Dispatcher;
  /** For hosts that have addresses inside only. */
  inside: Dispatcher;
  /** For hosts to which a redirect leads. */
  outside: Dispatcher;
}

let agent: Promise<HttpClient> | undefined;

/** Loads the HTTP client, which holds the event loop for about 60 ms. Otherwise the first download loads it. */
export async function loadHttpClient(): Promise<void> {
  await import('undici');
}

/** Honours HTTP_PROXY, HTTPS_PROXY and NO_PROXY. */
function connection() {
  agent ??= import('undici').then(({ EnvHttpProxyAgent, Pool, request }) => {
    const options = {
      connect: { timeout: connectMs },
      headersTimeout: headersMs,
      bodyTimeout: 0,
      clientFactory: tunnels(Pool, headersMs),
      proxyTunnel: false, // for http: most proxies tunnel to port 443 only
    };
    const proxies = proxyHosts();
    const only = (side: 'inside' | 'outside') => ({
      ...options,
      connect: { ...options.connect, lookup: lookupOf(side, proxies) },
    });
    try {
      return {
        request,
        anywhere: new EnvHttpProxyAgent(options),
        inside: new EnvHttpProxyAgent(only('inside')),
        outside: new EnvHttpProxyAgent(only('outside')),
      };
    } catch {
      const reason = 'the environment variable HTTP_PROXY or HTTPS_PROXY is not the address of a proxy';
      throw new LorekeepError('INVALID_ARGUMENT', reason, { field: 'HTTP_PROXY', reason }); // an address may hold a password
    }
  });
  return agent;
}

/** The hosts that HTTP_PROXY and HTTPS_PROXY name. */
function proxyHosts(): ReadonlySet<string> {
  const names = ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY'];
  const urls = names.flatMap((name) => process.env[name] ?? []).filter((url) => URL.canParse(url));
  return new Set(urls.map((url) => new URL(url).hostname));
}

/**
 * Follows redirects itself: the token goes to the first origin only, and hubs send the checksum before they redirect. A server
 * outside leads to none inside, which may serve what only this machine may read.
 * @throws errors of the connection; IO for a redirect that is not followed
 */
export async function get(
  { url: first, token }: Address,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Answer> {
  const { request, ...dispatchers } = await connection();
  let url = first;
  let cameFromOutside = false;
  let linkedSha256: string | undefined;
  let linkedSize: number | undefined;
  for (let redirects = 0; redirects <= maxRedirects; redirects++) {
    const inside = await untilAborted(isInside(url), signal);
    if (inside && cameFromOutside) throw refused(first, toInside);
    const redirected = redirects > 0;
    const dispatcher = dispatchers[inside ? 'inside' : redirected ? 'outside' : 'anywhere'];
    cameFromOutside ||= !inside;
    const own = url.origin === first.origin && token !== undefined;
    const asked = request(url, {
      dispatcher,
      signal,
      headers: {
        ...headers,
        'accept-encoding': 'identity',
        'user-agent': 'lorekeep',
        ...(own && { authorization: `Bearer ${token}` }),
      },
    });
    // undici sees the signal only when it is connected. To a request without a tunnel, it reports a proxy's 407 as an invalid
    // argument; those of this request are valid.
    const answer = await untilAborted(asked, signal).catch((error: RequestError) => {
      if (error.code === 'UND_ERR_INVALID_ARG') throw new ProxyRefusal(407);
      if (error.code === otherSide && cameFromOutside) throw refused(first, toInside);
      throw redirected ? Object.assign(error, { redirected }) : error;
    });
    linkedSha256 ??= /^"?([0-9a-f]{64})"?$/i.exec(String(answer.headers['x-linked-etag'] ?? ''))?.[1];
    const size = Number(answer.headers['x-linked-size'] ?? Number.NaN);
    if (Number.isSafeInteger(size) && size > 0) linkedSize ??= size;
    const { location } = answer.headers;
    if (answer.statusCode < 300 || answer.statusCode >= 400 || typeof location !== 'string')
      return {
        status: answer.statusCode,
        headers: answer.headers,
        body: answer.body,
        linkedSha256,
        linkedSize,
        redirects,
      };
    answer.body.on('error', () => {}).destroy();
    if (!URL.canParse(location, url.href))
      throw refused(first, 'it redirects to something that is not an address');
    url = new URL(location, url);
    if (!/^https?:$/.test(url.protocol))
      throw refused(first, 'it redirects to an address that is not http or https');
    if (first.protocol === 'https:' && url.protocol !== 'https:')
      throw refused(first, 'it redirects to an address without encryption');
  }
  throw refused(first, `it redirects more than ${maxRedirects} times`);
}

const toInside = 'it redirects to an address of this machine or of a private network';

const refused = (first: URL, reason: string) =>
  new LorekeepError('IO', `${shownAddress(first)}: ${reason}`, { reason });
