/** Answers of hostile and broken servers, byte by byte, and hostile folders. */
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { basename, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ModelDownloads } from '../../src/models/downloads/model-downloads.js';
import { rejection } from '../helpers/errors.js';
import { temporaryFolder } from '../helpers/folder.js';
import { pullBesideIntruder } from './children.js';
import { model, never, start } from './scene.js';

const inFolder = temporaryFolder();
let folders = 0;

/** Answers every connection with the same bytes, and ends it. */
async function answering(answer: Buffer | string, host = '127.0.0.1') {
  let asked = 0;
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      asked++;
      socket.end(answer);
    });
  });
  server.listen(0, host);
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { port, asked: () => asked };
}

function pull(url: string, notes: string[] = []) {
  const folder = inFolder(`models-${folders++}`);
  const options = { signal: never, retryMs: 1, environment: {}, onNote: (text: string) => notes.push(text) };
  return { folder, pulled: new ModelDownloads(folder).pull({ url }, options) };
}

const head = (status: number, headers: Record<string, string | number>) =>
  `HTTP/1.1 ${status} X\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`;

describe('an answer', () => {
  it.each([
    [
      'with headers without end',
      head(200, { 'content-length': 4, x: 'y'.repeat(100_000) }),
      1,
      /: the headers of the server's answer are too long$/,
    ],
    ['that is not HTTP', 'SSH-2.0-OpenSSH_9\r\n', 6, /: the server's answer cannot be read: .*; given up$/],
    [
      'of a negative length',
      `${head(200, { 'content-length': -5 })}GGUF`,
      6,
      /: the server's answer cannot be read: .*; given up$/,
    ],
    [
      'of two lengths',
      `HTTP/1.1 200 X\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nGGUF`,
      6,
      /: the server's answer .*; given up$/,
    ],
    [
      'of an endless length',
      `${head(200, { 'content-length': 2 ** 53 - 1 })}GGUF`,
      1,
      /: it needs 9007199254740991 bytes, and the disk has room for \d+; 64 MiB stay free$/,
    ],
    [
      'that is shorter than it says',
      `${head(200, { 'content-length': 9 })}GGUF`,
      6,
      /: the connection ended after [04] of 9 bytes; given up$/,
    ],
    [
      'with a part that nobody asked for',
      `${head(206, { 'content-length': 4, 'content-range': 'bytes 5-8/20' })}GGUF`,
      1,
      /: the server answered 206$/,
    ],
    [
      'that redirects to a file',
      head(302, { location: 'file:///etc/passwd' }),
      1,
      /: it redirects to an address that is not http or https$/,
    ],
    [
      'that redirects to nothing',
      head(302, { location: 'http://[::1' }),
      1,
      /: it redirects to something that is not an address$/,
    ],
    ['that redirects without an address', head(302, {}), 1, /: the server answered 302$/],
  ] as const)('%s is refused, and the message says why', async (_, answer, times, reason) => {
    const { port, asked } = await answering(answer);
    const { pulled, folder } = pull(`http://127.0.0.1:${port}/a.gguf?signature=secret`);
    const { message } = await rejection(pulled, 'IO');
    expect(message).toMatch(reason);
    expect(message).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/a\.gguf: /);
    expect(asked()).toBe(times);
    const left = readdirSync(folder).filter((name) => !/\.part(\.json)?$/.test(name));
    expect(left).toEqual([]);
  });

  it('that redirects to a host that cannot be reached is refused without the name of that host', async () => {
    const closed = createServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const { port: nobody } = closed.address() as AddressInfo;
    closed.close();
    await once(closed, 'close');
    const location = `http://user:secret@127.0.0.1:${nobody}/b?signature=secret`;
    const { port } = await answering(head(302, { location }));
    const notes: string[] = [];
    const { message } = await rejection(pull(`http://127.0.0.1:${port}/a.gguf`, notes).pulled, 'IO');
    expect(message).toContain(': no connection to the host that it redirects to: ECONNREFUSED; given up');
    expect([message, ...notes].join('\n')).not.toContain('secret');
    expect([message, ...notes].join('\n')).not.toContain(String(nobody));
  });

  it('of a server with an IPv6 address is downloaded', async (context) => {
    const content = model(2000);
    const answer = Buffer.concat([Buffer.from(head(200, { 'content-length': content.length })), content]);
    const server = await answering(answer, '::1').catch(() => undefined);
    if (server === undefined) return context.skip('this machine has no IPv6 loopback');
    const path = await pull(`http://[::1]:${server.port}/a.gguf`).pulled;
    expect(readFileSync(path).equals(content)).toBe(true);
  });
});

describe('what is in the place of a download', () => {
  it('is downloaded again if it is empty', async () => {
    const { downloads, variant, pull: again, folder, server } = await start(2000);
    mkdirSync(folder);
    const path = downloads.path(variant);
    writeFileSync(path, '');
    expect(downloads.has(variant)).toBe(false);
    await again();
    expect(readFileSync(path).equals(server.content)).toBe(true);
  });

  it('is named if it is a folder, and stays', async () => {
    const { downloads, variant, pull: again } = await start(2000);
    const path = downloads.path(variant);
    mkdirSync(join(path, 'mine'), { recursive: true });
    expect(downloads.has(variant)).toBe(false);
    for (const fields of [{}, { size_bytes: 2000 }])
      await expect(again(fields)).rejects.toThrow(`${basename(path)} exists and is not a file; move it away`);
    expect(readdirSync(path)).toEqual(['mine']);
  });

  it('is named if it has lost bytes since, with the way out, and is not replaced', async () => {
    const { downloads, variant, pull: again, server } = await start(2000);
    const path = await again();
    truncateSync(path, 1000);
    const { message } = await rejection(again(), 'CORRUPT');
    expect(message).toContain(
      'is there and damaged: it has 1000 bytes, not 2000; remove it first (models remove)',
    );
    expect([server.requests.length, readFileSync(path).length]).toEqual([1, 1000]);
    writeFileSync(path, server.content);
    await again({ size_bytes: 2000 });
    await expect(again({ size_bytes: 2001 })).rejects.toThrow('it has 2000 bytes, not 2001; remove it first');
    await downloads.remove(variant, never);
    await again();
    expect(readFileSync(path).equals(server.content)).toBe(true);
  });

  it('is left alone if it appears just before the download gets its name; the download waits as a part', async () => {
    const { downloads, variant, folder, server, pull: again } = await start(2000);
    const { ended, errors } = pullBesideIntruder({ folder, url: variant.url });
    expect(await ended).toBe(1);
    const path = downloads.path(variant);
    expect(errors()).toContain(`${basename(path)} exists and is not this download; move it away`);
    expect(readFileSync(path, 'utf8')).toBe('dear diary');
    rmSync(path);
    await again();
    expect(readFileSync(path).equals(server.content)).toBe(true);
    expect(server.requests).toHaveLength(1);
  });
});
