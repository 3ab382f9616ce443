import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

type Network = readonly [ipaddr.IPv4 | ipaddr.IPv6, number];

/** Addresses and networks, such as "10.0.0.5" and "10.1.0.0/16". */
export class AddressList {
  readonly #networks: readonly Network[];

  /** Precondition: isNetwork() of each text. */
  constructor(texts: readonly string[]) {
    this.#networks = texts.map((text) => networkOf(text) as Network);
  }

  get isEmpty(): boolean {
    return this.#networks.length === 0;
  }

  /** Whether an address is in the list. An IPv4-mapped IPv6 address is treated as the IPv4 address. */
  has(text: string): boolean {
    // A link-local address includes the interface: fe80::1%eth0.
    const address = parsed(text.split('%')[0] as string);
    return this.#networks.some(
      ([network, bits]) => network.kind() === address?.kind() && address.match([network, bits] as never),
    );
  }
}

/** Returns the one spelling of an address; of an IPv4-mapped IPv6 address, that of the IPv4 address. Undefined if it is none. */
export const plainAddress = (text: string): string | undefined => parsed(text)?.toString();

/** Whether a text is an address, or a network whose bits beyond its prefix are 0. The network of all addresses is none. */
export const isNetwork = (text: string): boolean => networkOf(text) !== undefined;

function networkOf(text: string): Network | undefined {
  const [, bare = '', prefix] = /^([\da-f:.]+)(?:\/([1-9]\d{0,2}))?$/i.exec(text) ?? [];
  const address = parsed(bare);
  if (address === undefined) return undefined;
  const bytes = address.toByteArray();
  const bits = prefix === undefined ? bytes.length * 8 : Number(prefix);
  if (bits > bytes.length * 8) return undefined;
  const isBase = bytes.every(
    (byte, index) => (byte & (0xff >> Math.min(8, Math.max(0, bits - 8 * index)))) === 0,
  );
  return isBase ? [address, bits] : undefined;
}

/** ipaddr.js reads the obsolete IPv4-compatible ::10.0.0.1 as the mapped address, and 10.0.1 as 10.0.0.1. */
function parsed(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  return isIP(text) === 0 || /^::\d+\./.test(text) ? undefined : ipaddr.process(text);
}
