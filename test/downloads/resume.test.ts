import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { model, start, sum } from './scene.js';

it('a connection that breaks is continued where it stopped', async () => {
  const { server, folder, pull, notes } = await start(6_000_000);
  server.cutAfter = 2_000_000;
  // What a broken connection has buffered may be lost: on a busy machine all of a reply, which is then asked for again.
  const kept: number[] = [];
  server.intercept = () => {
    const part = readdirSync(folder).find((name) => name.endsWith('.part'));
    kept.push(part === undefined ? 0 : statSync(join(folder, part)).size);
    return false;
  };
  const path = await pull();
  expect(readFileSync(path).equals(server.content)).toBe(true);
  expect(server.requests.length).toBeGreaterThan(2);
  expect(server.requests.map(({ range, ifRange }) => [range, ifRange])).toEqual(
    kept.map((bytes) => (bytes > 0 ? [`bytes=${bytes}-`, '"one"'] : [undefined, undefined])),
  );
  expect(kept.at(-1)).toBeGreaterThan(0);
  expect(notes.join()).not.toContain('secret');
});

it('a part of another version is not appended, though the server ignores If-Range', async () => {
  const { server, pull, notes } = await start(300_000);
  const old = server.content;
  let first: ServerResponse | undefined;
  server.intercept = (request, response, index) => {
    if (index === 0) {
      first = response.writeHead(200, { 'content-length': 300_000, etag: '"one"' });
      response.write(old.subarray(0, 100_000));
      return true;
    }
    if (index === 1) server.content = model(300_000);
    if (request.headers.range === undefined) return false;
    const part = { 'content-length': 200_000, 'content-range': 'bytes 100000-299999/300000', etag: '"two"' };
    response.writeHead(206, part).end(server.content.subarray(100_000));
    return true;
  };
  const onProgress = ({ done }: { done: number }) => void (done === 100_000 && first?.destroy());
  const path = await pull({}, { onProgress });
  expect(readFileSync(path).equals(server.content)).toBe(true);
  expect(notes.join()).toContain('the file has changed on the server; starting over');
});

it('a file that changes again and again is given up', async () => {
  const { server, pull } = await start(6_000_000);
  server.intercept = (_, response, index) => {
    response.writeHead(200, { 'content-length': 6_000_000, etag: `"${index}"` });
    const length = index % 2 === 0 ? 4_000_000 : 2_000_000;
    response.write(server.content.subarray(0, length), () => response.socket?.end());
    return true;
  };
  await expect(pull()).rejects.toThrow(/given up/);
  expect(server.requests.length).toBeLessThan(20);
});

it('the checksum that the server told is compared, though the process ended after the last byte', async () => {
  const { server, pull } = await start(1000);
  server.intercept = (_, response) => {
    const linked = `"${'0'.repeat(64)}"`;
    response.writeHead(200, { 'content-length': 1000, etag: '"one"', 'x-linked-etag': linked });
    response.end(server.content);
    return true;
  };
  const cancel = new AbortController();
  const onProgress = ({ done }: { done: number }) => void (done === 1000 && cancel.abort(new Error('ended')));
  await expect(pull({}, { signal: cancel.signal, onProgress })).rejects.toThrow('ended');
  await expect(pull()).rejects.toThrow(/SHA-256 is .*, the server says 0+/);
  expect(server.requests).toHaveLength(1);
});

it('a file that changed on the server is never mixed with the old one', async () => {
  for (const etag of ['"two"', '"one"', 'W/"one"', '']) {
    const { server, pull } = await start();
    const old = server.content;
    server.etag = etag === 'W/"one"' || etag === '' ? etag : '"one"';
    server.intercept = (_, response, index) => {
      if (index > 0) {
        server.content = model(300_000);
        server.etag = etag;
        server.intercept = () => false;
        server.cutAfter = undefined;
      }
      return response.destroyed;
    };
    server.cutAfter = 100_000;
    // Under the same strong ETag only the checksum can tell.
    const wanted = etag === '"one"' ? { sha256: sum(old) } : {};
    const pulled = pull(wanted);
    if (etag === '"one"') await expect(pulled).rejects.toThrow(/SHA-256 is [0-9a-f]+, the catalog says/);
    else expect(readFileSync(await pulled).equals(server.content), etag).toBe(true);
  }
});

it('a part of another place than asked for is not appended', async () => {
  // Another start, another total, none at all.
  for (const range of ['bytes 0-299999/300000', 'bytes 100000-399999/400000', 'bytes */300000', '']) {
    const { server, pull, notes } = await start(300_000);
    let first: ServerResponse | undefined;
    server.intercept = (request, response, index) => {
      if (index === 0) {
        first = response.writeHead(200, { 'content-length': 300_000, etag: '"one"' });
        response.write(server.content.subarray(0, 100_000));
        return true;
      }
      if (request.headers.range === undefined) return false;
      const head = { 'content-length': 5, etag: '"one"', ...(range !== '' && { 'content-range': range }) };
      response.writeHead(206, head).end('wrong');
      return true;
    };
    const onProgress = ({ done }: { done: number }) => void (done === 100_000 && first?.destroy());
    const path = await pull({}, { onProgress });
    expect(readFileSync(path).equals(server.content), range).toBe(true);
    const changed = range.endsWith('/400000');
    expect(notes.join()).toContain(
      changed
        ? 'the file has changed on the server; starting over'
        : 'the server sent another part than it was asked for; starting over',
    );
  }
});

it('a part is known by its Content-Range, whatever the status says', async () => {
  // ModelScope honours Range, but answers 200.
  const { server, pull } = await start(300_000);
  let first: ServerResponse | undefined;
  server.intercept = (request, response, index) => {
    if (index === 0) {
      first = response.writeHead(200, { 'content-length': 300_000, etag: '"one"' });
      response.write(server.content.subarray(0, 100_000));
      return true;
    }
    const from = Number(/bytes=(\d+)-/.exec(String(request.headers.range))?.[1]);
    const range = `bytes ${from}-299999/300000`;
    response.writeHead(200, { 'content-length': 300_000 - from, etag: '"one"', 'content-range': range });
    response.end(server.content.subarray(from));
    return true;
  };
  const onProgress = ({ done }: { done: number }) => void (done === 100_000 && first?.destroy());
  const path = await pull({}, { onProgress });
  expect(readFileSync(path).equals(server.content)).toBe(true);
  expect(server.requests).toHaveLength(2);
});

it('half a file that is sent as a whole one is not kept', async () => {
  const { server, pull } = await start(1000);
  server.intercept = (_, response) => {
    const head = { 'content-length': 500, etag: '"one"', 'content-range': 'bytes 500-999/1000' };
    response.writeHead(200, head).end(server.content.subarray(500));
    return true;
  };
  await expect(pull()).rejects.toThrow(/sent a part of the file/);
});

it('a part that nobody asked for is refused', async () => {
  const { server, pull } = await start(1000);
  server.intercept = (_, response) => {
    response.writeHead(206, { 'content-length': 5, 'content-range': 'bytes 0-4/1000' }).end('wrong');
    return true;
  };
  await expect(pull()).rejects.toThrow(/answered 206/);
});

it('a download is cancelled, keeps its bytes, and continues later', async () => {
  const { server, folder, pull } = await start();
  const cancel = new AbortController();
  server.intercept = (_, response, index) => {
    if (index > 0) return false;
    response.writeHead(200, { 'content-length': 300_000, etag: '"one"' });
    response.write(server.content.subarray(0, 200_000));
    return true;
  };
  const onProgress = ({ done }: { done: number }) => {
    if (done === 200_000) cancel.abort(new Error('enough'));
  };
  await expect(pull({}, { signal: cancel.signal, onProgress })).rejects.toThrow('enough');
  expect(readdirSync(folder).some((name) => name.endsWith('.lock'))).toBe(false);
  const path = await pull();
  expect(readFileSync(path).equals(server.content)).toBe(true);
  expect(server.requests[1]?.range).toBe('bytes=200000-');
});

/** A folder with the first 4 bytes of a file of `total` bytes, which the server continues. */
async function continued(total: number, bytes = 4) {
  const scene = await start(1000);
  const { server, folder, downloads, variant } = scene;
  const name = downloads.path(variant).slice(folder.length + 1);
  mkdirSync(folder);
  writeFileSync(join(folder, `${name}.part`), server.content.subarray(0, bytes));
  const state = { url: `${server.url}/some%20folder/model.gguf`, etag: '"one"', total };
  writeFileSync(join(folder, `${name}.part.json`), JSON.stringify(state));
  server.intercept = (_, response) => {
    const range = `bytes ${bytes}-${total - 1}/${total}`;
    response.writeHead(206, { 'content-length': total - bytes, 'content-range': range, etag: '"one"' });
    response.flushHeaders();
    return true;
  };
  return { ...scene, part: () => readFileSync(join(folder, `${name}.part`)).length };
}

it('the disk needs room for the missing bytes before a download continues', async () => {
  const { pull, part } = await continued(4 * 10 ** 15);
  await expect(pull()).rejects.toThrow(
    /it needs 3999999999999996 bytes, and the disk has room for \d+; 64 MiB stay free$/,
  );
  expect(part()).toBe(4);
});

it('a part of another length than the catalog states is not continued, nor taken for the file', async () => {
  const { pull, part } = await continued(1000);
  await expect(pull({ size_bytes: 999 })).rejects.toThrow('the server has 1000 bytes, the catalog says 999');
  expect(part()).toBe(4);
  const whole = await continued(1000, 1000);
  await expect(whole.pull({ size_bytes: 999 })).rejects.toThrow(
    'it has 1000 bytes, the catalog says 999; it was removed',
  );
  expect(whole.server.requests).toEqual([]);
});
