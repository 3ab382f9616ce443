import { expect, it } from 'vitest';
import { readProxyHeader } from '../../src/server/proxy-header.js';
import { random, testSeed } from '../helpers/random.js';
import { binaryHeader, signature } from './proxy-headers.js';

const text = (line: string) => Buffer.from(line, 'latin1');
const tcp4 = Buffer.from([203, 0, 113, 7, 10, 0, 0, 1, 0x1f, 0x90, 0x23, 0x8c]);
const tcp6 = Buffer.concat([
  Buffer.from('20010db8000000000000000000000007', 'hex'),
  Buffer.from('20010db8000000000000000000000001', 'hex'),
  Buffer.from([0x1f, 0x90, 0x23, 0x8c]),
]);
const mapped = Buffer.concat([Buffer.from('00000000000000000000ffffcb007107', 'hex'), tcp6.subarray(16)]);
/** As HAProxy sends them: the name of the server, a unique id, and one that means nothing. */
const extensions = Buffer.concat([
  Buffer.from([0x02, 0, 7]),
  text('example'),
  Buffer.from([0x05, 0, 2, 1, 2]),
  Buffer.from([0x04, 0, 0]),
]);

const valid: [string, Buffer, object | undefined][] = [
  [
    'TCP over IPv4, as text',
    text('PROXY TCP4 203.0.113.7 10.0.0.1 8080 9100\r\n'),
    { address: '203.0.113.7', port: 8080 },
  ],
  [
    'TCP over IPv6, as text',
    text('PROXY TCP6 2001:DB8:0::7 2001:db8::1 8080 9100\r\n'),
    { address: '2001:db8::7', port: 8080 },
  ],
  [
    'the longest line',
    text(`PROXY TCP6 ${'ffff:'.repeat(7)}ffff ${'ffff:'.repeat(7)}ffff 65535 65535\r\n`),
    { address: 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', port: 65_535 },
  ],
  ['an unknown client, as text', text('PROXY UNKNOWN\r\n'), undefined],
  ['an unknown client with words', text('PROXY UNKNOWN ffff::1 ffff::2 1 2\r\n'), undefined],
  ['TCP over IPv4', binaryHeader(0x21, 0x11, tcp4), { address: '203.0.113.7', port: 8080 }],
  ['TCP over IPv6', binaryHeader(0x21, 0x21, tcp6), { address: '2001:db8::7', port: 8080 }],
  ['an IPv4 address as IPv6', binaryHeader(0x21, 0x21, mapped), { address: '203.0.113.7', port: 8080 }],
  [
    'extensions',
    binaryHeader(0x21, 0x11, Buffer.concat([tcp4, extensions])),
    { address: '203.0.113.7', port: 8080 },
  ],
  ['a connection of the balancer itself', binaryHeader(0x20, 0x00, Buffer.alloc(0)), undefined],
  ['one with addresses, which mean nothing', binaryHeader(0x20, 0x11, tcp4), undefined],
  ['one with anything', binaryHeader(0x20, 0xff, Buffer.alloc(300, 7)), undefined],
  ['no family', binaryHeader(0x21, 0x00, Buffer.alloc(5, 7)), undefined],
  ['a socket of the balancer’s machine', binaryHeader(0x21, 0x31, Buffer.alloc(216, 7)), undefined],
];

it.each(valid)('%s is read, whole alone, and never beyond its end', (_, header, client) => {
  for (let cut = 0; cut < header.length; cut++)
    expect(readProxyHeader(header.subarray(0, cut)), `${cut}`).toBeUndefined();
  const found = { length: header.length, client };
  expect(readProxyHeader(header)).toEqual(found);
  expect(readProxyHeader(Buffer.concat([header, text('\r\nPROXY UNKNOWN\r\n')]))).toEqual(found);
});

it.each([
  ['a line without an end', text(`PROXY TCP4 ${'1'.repeat(200)}`), /longer than 107/],
  ['a line that ends late', text(`PROXY UNKNOWN ${'x'.repeat(93)}\r\n`), /longer than 107/],
  ['another protocol', text('PROXY UDP4 203.0.113.7 10.0.0.1 8080 9100\r\n'), /malformed/],
  ['two spaces', text('PROXY TCP4  203.0.113.7 10.0.0.1 8080 9100\r\n'), /malformed/],
  ['a line feed alone', text('PROXY TCP4 203.0.113.7 10.0.0.1 8080 9100\n\r\n'), /malformed/],
  ['a short address', text('PROXY TCP4 203.7 10.0.0.1 8080 9100\r\n'), /malformed/],
  ['an octal address', text('PROXY TCP4 0203.0.113.7 10.0.0.1 8080 9100\r\n'), /malformed/],
  ['an address of the other family', text('PROXY TCP4 ::1 ::1 8080 9100\r\n'), /malformed/],
  ['an IPv4 address as IPv6', text('PROXY TCP6 127.0.0.1 ::1 8080 9100\r\n'), /malformed/],
  ['an obsolete address', text('PROXY TCP6 ::10.0.0.1 ::1 8080 9100\r\n'), /malformed/],
  ['an interface', text('PROXY TCP6 fe80::1%lo ::1 8080 9100\r\n'), /malformed/],
  ['a name', text('PROXY TCP4 localhost 10.0.0.1 8080 9100\r\n'), /malformed/],
  ['a port too large', text('PROXY TCP4 203.0.113.7 10.0.0.1 65536 9100\r\n'), /malformed/],
  ['a port with a zero before it', text('PROXY TCP4 203.0.113.7 10.0.0.1 080 9100\r\n'), /malformed/],
  ['a field too many', text('PROXY TCP4 203.0.113.7 10.0.0.1 1 2 3\r\n'), /malformed/],
  ['no port', text('PROXY TCP4 203.0.113.7 10.0.0.1 8080\r\n'), /malformed/],
  ['lower case', text('proxy TCP4 203.0.113.7 10.0.0.1 8080 9100\r\n'), /no PROXY header/],
  ['HTTP', text('GET / HTTP/1.1\r\n\r\n'), /no PROXY header/],
  ['a frame', Buffer.from([1, 0, 0, 0, 2, 0x7b, 0x7d]), /no PROXY header/],
  ['half a signature', Buffer.concat([signature.subarray(0, 8), text('GET /')]), /no PROXY header/],
  ['version 1 in binary', binaryHeader(0x11, 0x11, tcp4), /version 1/],
  ['version 3', binaryHeader(0x31, 0x11, tcp4), /version 3/],
  ['an unknown command', binaryHeader(0x22, 0x11, tcp4), /command 2/],
  ['datagrams', binaryHeader(0x21, 0x12, tcp4), /0x12/],
  ['an unknown family', binaryHeader(0x21, 0x41, tcp4), /0x41/],
  ['addresses that are cut', binaryHeader(0x21, 0x11, tcp4.subarray(0, 11)), /malformed/],
  ['IPv6 with the bytes of IPv4', binaryHeader(0x21, 0x21, tcp4), /malformed/],
  ['a socket path that is cut', binaryHeader(0x21, 0x31, Buffer.alloc(215)), /malformed/],
  [
    'an extension that is cut',
    binaryHeader(0x21, 0x11, Buffer.concat([tcp4, extensions.subarray(0, 9)])),
    /malformed/,
  ],
  [
    'an extension longer than the rest',
    binaryHeader(0x21, 0x11, Buffer.concat([tcp4, Buffer.from([1, 255, 255])])),
    /malformed/,
  ],
  ['half an extension', binaryHeader(0x21, 0x11, Buffer.concat([tcp4, Buffer.from([1, 0])])), /malformed/],
  // Refused before the rest has come.
  [
    'a header that is too long',
    Buffer.concat([signature, Buffer.from([0x21, 0x11, 0xff, 0xff])]),
    /65551 bytes/,
  ],
  [
    'one of the balancer that is too long',
    Buffer.concat([signature, Buffer.from([0x20, 0, 0x0f, 0xf1])]),
    /4097 bytes/,
  ],
])('%s is refused', (_, bytes, reason) => {
  expect(readProxyHeader(bytes)).toMatch(reason);
});

it('whatever comes, it is a header, a reason, or too little, and a header has an address', () => {
  const next = random(testSeed);
  const below = (end: number) => Math.floor(next() * end);
  const samples = valid.map(([, header]) => header);
  let headers = 0;
  for (let round = 0; round < 20_000; round++) {
    const bytes = Buffer.from(samples[below(samples.length)] as Buffer);
    for (let edit = below(4); edit > 0; edit--) bytes[below(bytes.length)] = below(256);
    const found = readProxyHeader(bytes);
    if (typeof found !== 'object') continue;
    headers++;
    expect(found.length).toBeLessThanOrEqual(bytes.length);
    if (found.client === undefined) continue;
    expect(found.client.address, bytes.toString('hex')).toMatch(/^[\da-f:.]{2,39}$/);
    expect(found.client.port).toBeLessThanOrEqual(65_535);
  }
  expect(headers).toBeGreaterThan(1000);
});
