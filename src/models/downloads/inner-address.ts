import { lookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Returns the addresses of a host. */
export type Resolve = (host: string) => Promise<readonly { address: string }[]>;

const resolved: Resolve = (host) => lookup(host, { all: true });

/** Whether an IP address is not one of the public internet: loopback, private, link-local, reserved and the like. */
export function isInnerAddress(address: string): boolean {
  const bare = address.split('%')[0] as string; // fe80::1%eth0
  if (isIP(bare) === 0) return false;
  const parsed = ipaddr.process(bare);
  // ::a.b.c.d is an obsolete form of the IPv4 address.
  const isCompatible = parsed instanceof ipaddr.IPv6 && parsed.parts.slice(0, 6).every((part) => part === 0);
  return isCompatible || parsed.range() !== 'unicast';
}

/** Whether a URL's host is, or has, an inner address. False if it cannot be resolved. */
export async function isInside({ hostname }: URL, resolve: Resolve = resolved): Promise<boolean> {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (/(^|\.)localhost\.?$/i.test(host)) return true;
  if (isIP(host) !== 0) return isInnerAddress(host);
  const found = await resolve(host).catch(() => []);
  return found.some(({ address }) => isInnerAddress(address));
}

/**
 * Whether a server outside sends us to a host inside: that host may serve what only this machine may read. `first`: the
 * address of the source, which may itself be inside.
 */
export async function leadsInside(first: URL, next: URL, resolve: Resolve = resolved): Promise<boolean> {
  if (next.hostname === first.hostname) return false;
  return (await isInside(next, resolve)) && !(await isInside(first, resolve));
}

/** The code of the error of outsideOnly(). */
export const innerHost = 'INNER_HOST';

/**
 * Returns a lookup for connections that fails for hosts with an inner address: a name may have another address than a moment
 * ago. Hosts of `allowed` are proxies.
 */
export function outsideOnly(allowed: ReadonlySet<string>): LookupFunction {
  return (host, options, callback) => {
    lookup(host, { ...options, all: true }).then(
      (addresses) => {
        const inner = !allowed.has(host) && addresses.some(({ address }) => isInnerAddress(address));
        if (inner) return callback(Object.assign(new Error(innerHost), { code: innerHost }), '', 0);
        const [first] = addresses;
        if (options.all) return callback(null, addresses);
        return callback(null, first?.address ?? '', first?.family ?? 0);
      },
      (error: NodeJS.ErrnoException) => callback(error, '', 0),
    );
  };
}
