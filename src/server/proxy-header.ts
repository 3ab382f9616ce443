import { isIPv4, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { plainAddress } from '../base/machine/address-list.js';
import type { RemoteEnd } from '../base/machine/remote-end.js';

/** A PROXY header: its bytes, and the client; undefined if the peer is the client, as in a check of the balancer. */
export interface ProxyHeader {
  readonly length: number;
  readonly client: RemoteEnd | undefined;
}

/** Longest header of version 1, with its end. */
const longestText = 107;

/** Longest header of version 2. The protocol allows 65,551 bytes; addresses and the usual extensions take a few hundred. */
const longestBinary = 4096;

const textBeginning = Buffer.from('PROXY ');
const signature = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');

/** Bytes of the fixed part of version 2. */
const fixedBytes = 16;

/** Whether the bytes are, or may become, a header. */
export function beginsProxyHeader(bytes: Buffer): boolean {
  return begins(bytes, textBeginning) || begins(bytes, signature);
}

/**
 * Reads the PROXY header at the beginning of a connection: version 1 (text) or 2 (binary). Returns undefined if more bytes are
 * needed, and the reason if it is no valid header.
 */
export function readProxyHeader(bytes: Buffer): ProxyHeader | string | undefined {
  if (begins(bytes, textBeginning)) return readText(bytes);
  if (begins(bytes, signature)) return readBinary(bytes);
  return 'it begins with no PROXY header';
}

/** Whether the bytes begin with the text, or the text with the bytes. */
function begins(bytes: Buffer, text: Buffer): boolean {
  const length = Math.min(bytes.length, text.length);
  return bytes.subarray(0, length).equals(text.subarray(0, length));
}

function readText(bytes: Buffer): ProxyHeader | string | undefined {
  const end = bytes.subarray(0, longestText).indexOf('\r\n');
  if (end < 0)
    return bytes.length < longestText ? undefined : `its PROXY line is longer than ${longestText} bytes`;
  const line = bytes.toString('latin1', 0, end);
  const length = end + 2;
  if (/^PROXY UNKNOWN(?: [\x20-\x7e]*)?$/.test(line)) return { length, client: undefined };
  const [, family, source = '', destination = '', sourcePort = '', destinationPort = ''] =
    /^PROXY (TCP4|TCP6) ([\da-fA-F:.]+) ([\da-fA-F:.]+) (\d{1,5}) (\d{1,5})$/.exec(line) ?? [];
  const isAddress = family === 'TCP4' ? isIPv4 : isIPv6;
  const isValid = [source, destination].every(isAddress) && [sourcePort, destinationPort].every(isPort);
  const address = plainAddress(source);
  if (!isValid || address === undefined) return 'its PROXY line is malformed';
  return { length, client: { address, port: Number(sourcePort) } };
}

const isPort = (text: string) => Number(text) <= 65_535 && String(Number(text)) === text;

/** Families and protocols of version 2: bytes of their two addresses with ports, and whether these are of a client. */
const kinds: Readonly<Record<number, { bytes: number; stated?: number }>> = {
  0: { bytes: 0 },
  17: { bytes: 12, stated: 4 },
  33: { bytes: 36, stated: 16 },
  // A socket of the balancer's machine.
  49: { bytes: 216 },
};

function readBinary(bytes: Buffer): ProxyHeader | string | undefined {
  if (bytes.length < fixedBytes) return undefined;
  const version = bytes.readUInt8(12) >> 4;
  const command = bytes.readUInt8(12) & 15;
  if (version !== 2) return `its PROXY header has version ${version}; 1 and 2 are known`;
  if (command > 1) return `its PROXY header has the unknown command ${command}`;
  const length = fixedBytes + bytes.readUInt16BE(14);
  if (length > longestBinary)
    return `its PROXY header has ${length} bytes; at most ${longestBinary} are read`;
  if (bytes.length < length) return undefined;
  // Of a connection that the balancer makes for itself, the rest means nothing.
  if (command === 0) return { length, client: undefined };
  const type = bytes.readUInt8(13);
  const kind = kinds[type];
  if (kind === undefined)
    return `its PROXY header is of the kind 0x${type.toString(16).padStart(2, '0')}, which is no stream`;
  // Without a family, neither addresses nor extensions can be told.
  if (type === 0) return { length, client: undefined };
  const body = bytes.subarray(fixedBytes, length);
  if (body.length < kind.bytes || !areExtensions(body.subarray(kind.bytes)))
    return 'its PROXY header is malformed';
  if (kind.stated === undefined) return { length, client: undefined };
  const address = plainAddress(ipaddr.fromByteArray([...body.subarray(0, kind.stated)]).toString()) as string;
  return { length, client: { address, port: body.readUInt16BE(2 * kind.stated) } };
}

/** Whether the bytes are extensions, each a type, a length of two bytes, and as many bytes. */
function areExtensions(bytes: Buffer): boolean {
  let place = 0;
  while (place + 3 <= bytes.length) place += 3 + bytes.readUInt16BE(place + 1);
  return place === bytes.length;
}
