/** The first bytes of each header of version 2. */
export const signature: Buffer = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');

/** A header of version 2: the byte of version and command, that of family and protocol, and the rest. */
export function binaryHeader(command: number, family: number, body: Buffer): Buffer {
  const fixed = Buffer.from([command, family, body.length >> 8, body.length & 255]);
  return Buffer.concat([signature, fixed, body]);
}

/** The header that a balancer sends for a client with an IPv4 address. */
export function headerOf(address: string, port: number): Buffer {
  const body = Buffer.from([...address.split('.').map(Number), 127, 0, 0, 1, port >> 8, port & 255, 0, 80]);
  return binaryHeader(0x21, 0x11, body);
}
