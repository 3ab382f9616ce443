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

/** Whether a URL's host has inner addresses only. False if it cannot be resolved. */
export async function isInside({ hostname }: URL, resolve: Resolve = resolved): Promise<boolean> {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (/(^|\.)localhost\.?$/i.test(host)) return true;
  if (isIP(host) !== 0) return isInnerAddress(host);
  const found = await resolve(host).catch(() => []);
  return found.length > 0 && found.every(({ address }) => isInnerAddress(address));
}

/** The code of the error of lookupOf(). */
export const otherSide = 'OTHER_SIDE';

/**
 * Returns a lookup for connections that finds only addresses inside, or only those outside: a name may have others than a moment
 * ago. It fails if there are none. Hosts of `proxies` have all of theirs.
 */
export function lookupOf(side: 'inside' | 'outside', proxies: ReadonlySet<string>): LookupFunction {
  const isWanted = (address: string) => isInnerAddress(address) === (side === 'inside');
  return (host, options, callback) => {
    lookup(host, { ...options, all: true }).then(
      (addresses) => {
        const found = proxies.has(host) ? addresses : addresses.filter(({ address }) => isWanted(address));
        const [first] = found;
        if (first === undefined)
          return callback(Object.assign(new Error(otherSide), { code: otherSide }), '', 0);
        if (options.all) return callback(null, found);
        return callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, '', 0),
    );
  };
}
