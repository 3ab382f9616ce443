import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Subnet = readonly [Address, number];

/** Ranges of ipaddr.js that internet routers do not forward. */
const localRanges: ReadonlySet<string> = new Set(['loopback', 'private', 'linkLocal', 'uniqueLocal']);

/**
 * Whether an address belongs to the local network: loopback, private, link-local or unique-local, or in a subnet of an
 * interface of this machine. An IPv4-mapped IPv6 address is treated as the IPv4 address.
 */
export function isLocalAddress(text: string, subnets: Iterable<Subnet> = ownSubnets()): boolean {
  // A link-local address includes the interface: fe80::1%eth0.
  const bare = text.split('%')[0] as string;
  // ipaddr.js reads the obsolete IPv4-compatible ::10.0.0.1 as the mapped address, and 10.0.1 as 10.0.0.1.
  if (isIP(bare) === 0 || /^::\d+\./.test(bare)) return false;
  const address = ipaddr.process(bare);
  if (localRanges.has(address.range())) return true;
  for (const [network, bits] of subnets) {
    if (network.kind() === address.kind() && matches(address, network, bits)) return true;
  }
  return false;
}

/** Current subnets: interfaces come and go. */
export function ownSubnets(): Subnet[] {
  return (
    Object.values(networkInterfaces())
      .flatMap((addresses) => addresses ?? [])
      .flatMap(({ cidr }) => (cidr === null ? [] : [ipaddr.parseCIDR(cidr)]))
      // An empty prefix would make the whole internet local.
      .filter(([, bits]) => bits > 0)
  );
}

function matches(address: Address, network: Address, bits: number): boolean {
  return address instanceof ipaddr.IPv4
    ? address.match(network as ipaddr.IPv4, bits)
    : address.match(network as ipaddr.IPv6, bits);
}
