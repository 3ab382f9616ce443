import { execFileSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import { addressOf, fileNames } from '../../src/models/downloads/address.js';
import { ModelDownloads } from '../../src/models/downloads/model-downloads.js';
import { rejection } from '../helpers/errors.js';
import { temporaryFolder } from '../helpers/folder.js';
import { pullInChild } from './children.js';
import { FileServer } from './file-server.js';
import { model, never, start, sum } from './scene.js';

const inFolder = temporaryFolder();

it('a file arrives complete, verified and recorded, and is not downloaded twice', async () => {
  const { server, folder, pull, downloads, variant } = await start();
  const sha256 = sum(server.content);
  expect(downloads.has({ ...variant, sha256 })).toBe(false);
  const seen: number[] = [];
  const path = await pull(
    { sha256, size_bytes: 300_000 },
    { onProgress: ({ done }) => void seen.push(done) },
  );
  expect(readFileSync(path).equals(server.content)).toBe(true);
  expect(seen.at(-1)).toBe(300_000);
  expect(readdirSync(folder).sort()).toEqual([basename(path), 'downloads.json'].sort());
  const record = readFileSync(join(folder, 'downloads.json'), 'utf8');
  expect(JSON.parse(record).downloads).toMatchObject({
    [basename(path)]: { sha256, size_bytes: 300_000 },
  });
  expect(record).not.toContain('secret');
  await pull({ sha256 });
  expect(server.requests).toHaveLength(1);
});

it('429 and 5xx are repeated after the time that the server asks for', async () => {
  const { server, pull, notes } = await start(1000);
  const answers = [429, 503, 500];
  server.intercept = (_, response, index) => {
    const status = answers[index];
    if (status === undefined) return false;
    response.writeHead(status, { 'retry-after': '0' }).end();
    return true;
  };
  expect(existsSync(await pull())).toBe(true);
  expect(notes).toHaveLength(3);
});

it.each([
  ['7', 'in 7 s'],
  [new Date(Date.now() + 3_600_000).toUTCString(), 'in 300 s'],
  ['86400', 'in 300 s'],
  [new Date(0).toUTCString(), undefined],
  ['-7', undefined],
  ['soon', undefined],
])(
  'Retry-After %j is waited for, 5 minutes at most; a value that is no time is ignored',
  async (header, pause) => {
    const { server, pull } = await start(1000);
    server.intercept = (_, response, index) => {
      if (index > 0) return false;
      response.writeHead(429, { 'retry-after': header }).end();
      return true;
    };
    const stop = new AbortController();
    const told: string[] = [];
    const onNote = (text: string) => {
      told.push(text);
      if (text.includes(' in ')) stop.abort(new Error('long enough'));
    };
    const pulled = pull({}, { signal: stop.signal, onNote });
    if (pause === undefined) expect(existsSync(await pulled)).toBe(true);
    else await expect(pulled).rejects.toThrow('long enough');
    expect(told).toEqual([
      expect.stringMatching(
        new RegExp(`answered 429; trying again${pause === undefined ? '' : ` ${pause}`}$`),
      ),
    ]);
  },
);

it('refusals are clear errors, and nothing of the address but its path is shown', async () => {
  const cases: [number, RegExp][] = [
    [404, /does not have the file/],
    [401, /answered 401; HF_TOKEN is sent to an address of hf, not of url$/],
    [403, /answered 403; HF_TOKEN is sent/],
    [400, /answered 400/],
  ];
  for (const [status, expected] of cases) {
    const { server, pull, folder } = await start(1000);
    server.intercept = (_, response) => {
      response.writeHead(status).end();
      return true;
    };
    const error = await pull().catch((thrown: Error) => thrown);
    expect(String(error)).toMatch(expected);
    expect(String(error)).not.toContain('secret');
    expect(readdirSync(folder).filter((name) => name.endsWith('.gguf'))).toEqual([]);
  }
});

it('a hub that refuses the file: the message says whether a token was sent, and does not show it', async () => {
  for (const [HF_TOKEN, hint] of [
    [undefined, 'set HF_TOKEN if the model asks for a login'],
    ['hf_secret', 'it does not accept HF_TOKEN'],
  ] as const) {
    const { server, downloads } = await start(1000);
    server.intercept = (_, response) => {
      response.writeHead(401).end();
      return true;
    };
    const environment = { HF_ENDPOINT: server.url, HF_TOKEN };
    const { message } = await rejection(
      downloads.pull({ hf: 'a/b/c.gguf' }, { signal: never, environment }),
      'IO',
    );
    expect(message).toMatch(new RegExp(`: the server answered 401; ${hint}$`));
    expect(message).not.toContain('secret');
  }
});

it('a wrong checksum or length removes the file and names both', async () => {
  const { server, pull, folder } = await start(1000);
  await expect(pull({ sha256: '0'.repeat(64) })).rejects.toThrow(
    new RegExp(`SHA-256 is ${sum(server.content)}, the catalog says 0+`),
  );
  await expect(pull({ size_bytes: 999 })).rejects.toThrow('the server has 1000 bytes, the catalog says 999');
  expect(readdirSync(folder).filter((name) => /gguf$|part$/.test(name) && !name.endsWith('.json'))).toEqual(
    [],
  );
});

/** Longer than any disk, and an integer that a number holds. */
const endless = 4 * 10 ** 15;

it('a file for which the disk has no room is refused before its first byte, with both numbers', async () => {
  const { server, pull, folder } = await start(1000);
  server.intercept = (_, response) => {
    response.writeHead(200, { 'content-length': endless, etag: '"one"' }).flushHeaders();
    return true;
  };
  await expect(pull()).rejects.toThrow(
    /it needs 4000000000000000 bytes, and the disk has room for \d+; 64 MiB stay free$/,
  );
  expect(readdirSync(folder)).toEqual([]);
});

it('the first part of a split model is refused if the disk has no room for all', async () => {
  const { server, folder, downloads } = await start(1000);
  const variant = { url: `${server.url}/big-00001-of-00002.gguf`, size_bytes: endless };
  await expect(downloads.pull(variant, { signal: never, environment: {} })).rejects.toThrow(
    /big-00001-of-00002\.gguf: it needs 4000000000000000 bytes/,
  );
  expect(readdirSync(folder)).toEqual([]);
});

/** Answers each request for a file with `pace` bytes at a time, `pauseMs` between them. */
function trickle(server: FileServer, pace: number, pauseMs: number): void {
  server.intercept = (request, response) => {
    const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
    const { length } = server.content;
    response.writeHead(from > 0 ? 206 : 200, {
      'content-length': length - from,
      etag: server.etag,
      ...(from > 0 && { 'content-range': `bytes ${from}-${length - 1}/${length}` }),
    });
    let sent = from;
    const timer = setInterval(() => {
      response.write(server.content.subarray(sent, sent + pace));
      sent += pace;
    }, pauseMs);
    response.on('close', () => clearInterval(timer));
    return true;
  };
}

it('a server that sends a byte at a time is given up, and the folder is free', async () => {
  const { server, folder, downloads, pull, notes } = await start();
  trickle(server, 1, 5);
  await expect(pull({}, { stallMs: 300 })).rejects.toMatchObject({
    code: 'IO',
    detail: { reason: expect.stringMatching(/; given up$/) },
  });
  expect(notes.join()).toMatch(
    /the server sent \d+ bytes in 0\.3 s, less than 1024 per second; trying again/,
  );
  expect([server.requests.length, notes.length]).toEqual([6, 5]);
  // Each attempt continued where the last one stopped.
  expect(server.requests.at(-1)?.range).toMatch(/^bytes=[1-9]/);
  expect(readdirSync(folder).filter((name) => name.endsWith('.lock'))).toEqual([]);
  server.intercept = () => false;
  expect(
    readFileSync(await downloads.pull({ url: `${server.url}/other.gguf` }, { signal: never })).length,
  ).toBe(300_000);
});

it('a server that ends each connection after a byte is given up, too', async () => {
  const { server, pull } = await start();
  server.cutAfter = 1;
  await expect(pull({}, { retryMs: 2 })).rejects.toThrow(/given up/);
  expect(server.requests.length).toBeLessThan(100);
});

it('minSpeed 0 accepts any speed', async () => {
  const { server, downloads, pull } = await start(400);
  downloads.minSpeed = 0;
  trickle(server, 4, 5);
  expect(readFileSync(await pull({}, { stallMs: 400 })).equals(server.content)).toBe(true);
  expect(server.requests).toHaveLength(1);
});

it('a server that goes silent is given up and asked again', async () => {
  const { server, pull, notes } = await start();
  server.intercept = (_, response, index) => {
    if (index > 0) return false;
    response.writeHead(200, { 'content-length': 300_000, etag: '"one"' });
    response.write(server.content.subarray(0, 1000));
    return true;
  };
  expect(readFileSync(await pull({}, { stallMs: 50 })).equals(server.content)).toBe(true);
  expect(notes.join()).toContain('sent nothing for a while');
});

it('redirects: the token goes to the first origin only, the hub tells the checksum, an expired address is renewed', async () => {
  const { server: storage } = await start();
  const hub = await FileServer.listen(Buffer.alloc(0));
  let signed = 0;
  hub.intercept = (_, response) => {
    response
      .writeHead(302, {
        location: `${storage.url}/cdn?sig=${signed++}`,
        'x-linked-etag': `"${sum(storage.content)}"`,
      })
      .end();
    return true;
  };
  storage.intercept = (request, response) => {
    if (request.url !== '/cdn?sig=0') return false;
    response.writeHead(403).end();
    return true;
  };
  const folder = inFolder('hub');
  const environment = { HF_TOKEN: 'the-token', HF_ENDPOINT: hub.url };
  const downloads = new ModelDownloads(folder);
  const hf = 'someone/some-model/sub/model.gguf#main';
  const path = await downloads.pull({ hf }, { signal: never, environment, retryMs: 1 });
  expect(readFileSync(path).equals(storage.content)).toBe(true);
  expect(hub.requests[0]?.path).toBe('/someone/some-model/resolve/main/sub/model.gguf');
  expect(hub.requests[0]?.authorization).toBe('Bearer the-token');
  expect(storage.requests.map(({ authorization }) => authorization)).toEqual([undefined, undefined]);
  storage.content = model(500);
  hub.intercept = (_, response) => {
    response.writeHead(302, { location: `${storage.url}/x`, 'x-linked-etag': `"${'1'.repeat(64)}"` }).end();
    return true;
  };
  await expect(
    downloads.pull({ hf: 'someone/other/model.gguf' }, { signal: never, environment, retryMs: 1 }),
  ).rejects.toThrow('the server says 1111');
});

it('endless redirects and addresses that are none are refused', async () => {
  const { server, pull } = await start(10);
  server.intercept = (_, response) => {
    response.writeHead(302, { location: '/again' }).end();
    return true;
  };
  await expect(pull()).rejects.toThrow(/model\.gguf: it redirects more than 8 times/);
  const targets = {
    'javascript:alert(1)': /model\.gguf: it redirects to an address that is not http/,
    'http://[': /is not an address/,
  };
  for (const [location, expected] of Object.entries(targets)) {
    server.intercept = (_, response) => {
      response.writeHead(302, { location }).end();
      return true;
    };
    await expect(pull()).rejects.toThrow(expected);
  }
  for (const url of ['ftp://x/y', 'file:///etc/passwd', 'x', 'https://user:pass@host/x'])
    expect(() => addressOf({ url }, {})).toThrow();
  for (const hf of [
    'x',
    'a/b',
    '../b/c.gguf',
    'a/../c.gguf',
    'a/b/../c',
    'a/b/./c',
    'a/b//c',
    'a/b\\c/d',
    '',
  ])
    expect(() => addressOf({ hf }, {}), hf).toThrow();
});

it('names in the folder depend on address and checksum, and stay inside it', () => {
  for (const url of [
    'https://host/a/%2e%2e%2fb%20c.gguf',
    'https://host/%zz.gguf',
    'https://host/..%5c..%5cx',
  ]) {
    const [name] = fileNames({ url });
    expect(name).toMatch(/^[0-9a-f]{8}-[\w.+-]+$/);
  }
  expect(fileNames({ url: 'https://host/m.gguf' })).not.toEqual(fileNames({ url: 'https://other/m.gguf' }));
  expect(fileNames({ hf: 'a/b/m-00001-of-00003.gguf' })).toHaveLength(3);
  expect(fileNames({ hf: 'a/b/m-00002-of-00003.gguf' })).toHaveLength(1);
  expect(fileNames({ hf: 'a/b/m-00001-of-99999.gguf' })).toHaveLength(1);
});

it('all parts of a split model are downloaded and compared with the catalog', async () => {
  const { server, folder, downloads } = await start(5000);
  const parts = [model(5000), model(3000)];
  server.intercept = (request) => {
    server.content = parts[request.url?.includes('-00001-') ? 0 : 1] as Buffer;
    return false;
  };
  const url = `${server.url}/big-00001-of-00002.gguf?signature=secret`;
  const options = { signal: never, environment: {}, retryMs: 1 };
  const sums = parts.map(sum);
  const right = { url, parts_sha256: sums, size_bytes: 8000 };
  const wrong = { ...right, parts_sha256: [sums[0] as string, '0'.repeat(64)] };
  await expect(downloads.pull(wrong, options)).rejects.toThrow(
    /-00002-of-.* SHA-256 is .*, the catalog says 0+/,
  );
  expect(downloads.has(wrong)).toBe(false);
  await expect(downloads.pull({ ...right, size_bytes: 8001 }, options)).rejects.toThrow(
    'the server has 3000 bytes, the catalog says 3001',
  );
  expect(downloads.has(right)).toBe(false);
  const path = await downloads.pull(right, options);
  expect(path).toMatch(/-big-00001-of-00002\.gguf$/);
  expect(readFileSync(path.replace('00001-of', '00002-of')).equals(parts[1] as Buffer)).toBe(true);
  expect(server.requests.slice(-1)[0]?.path).toBe('/big-00002-of-00002.gguf?signature=secret');
  expect(downloads.has(right)).toBe(true);
  expect(await downloads.remove(right, never)).toBe(8000);
  await downloads.remove(wrong, never);
  expect(readdirSync(folder)).toEqual(['downloads.json']);
});

it('an answer that is no HTTP is repeated, given up, and leaves no file', async () => {
  const { server, pull, notes, folder } = await start(10);
  server.intercept = (_, response) => {
    response.socket?.end('HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nGGUF');
    return true;
  };
  await expect(pull()).rejects.toThrow(/given up/);
  expect(notes).toHaveLength(5);
  expect(readdirSync(folder)).toEqual([]);
});

it('a token that no header can have is refused at once, and not shown', () => {
  for (const HF_TOKEN of ['hf_secret\nx: y', 'hf secret', 'hf_secrét', 'hf_secret\x01'])
    expect(() => addressOf({ hf: 'a/b/c.gguf' }, { HF_TOKEN })).toThrow(
      /^the environment variable HF_TOKEN is not a token: (?!.*secr)/,
    );
});

it('a proxy that is none is refused at once, and not shown', async () => {
  const { server, folder } = await start(10);
  const child = pullInChild({ folder, url: `${server.url}/a.gguf` }, { HTTP_PROXY: 'my secret proxy' });
  expect(await child.ended).toBe(1);
  expect(child.errors()).toMatch(/HTTP_PROXY or HTTPS_PROXY is not the address of a proxy/);
  expect(child.errors()).not.toContain('secret');
  expect(server.requests).toEqual([]);
});

it('a server that encodes the file although it was asked not to is refused', async () => {
  const { server, pull } = await start(1000);
  server.intercept = (_, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': 10 }).end('0123456789');
    return true;
  };
  await expect(pull()).rejects.toThrow(/encoded \(gzip\)/);
});

it('a page for people is no model, whatever its address is called', async () => {
  const { server, folder, pull } = await start(1000);
  for (const page of [
    '<html>Please log in</html>',
    '\ufeff\n <!DOCTYPE html>',
    '<?xml version="1.0"?><Error/>',
  ]) {
    server.content = Buffer.from(page);
    await expect(pull()).rejects.toThrow(/it is not a GGUF file; it was removed/);
    await expect(pull({ url: `${server.url}/download?id=3` })).rejects.toThrow(
      /\/download: it is a web page, not a model; it was removed/,
    );
    expect(readdirSync(folder)).toEqual([]);
  }
});

it('a server that tells no length is believed if the catalog tells it', async () => {
  const { server, pull } = await start(1000);
  server.intercept = (_, response) => {
    response.writeHead(200, { 'transfer-encoding': 'chunked' });
    response.write(server.content.subarray(0, 500));
    response.end(server.content.subarray(500));
    return true;
  };
  await expect(pull()).rejects.toThrow(/does not state the length of the file; set size_bytes/);
  expect(readFileSync(await pull({ size_bytes: 1000 })).equals(server.content)).toBe(true);
});

it('a folder that cannot be used is a clear error without raw paths', async () => {
  const { downloads, folder, variant } = await start(10);
  writeFileSync(folder, 'a file');
  const error = await downloads.pull(variant, { signal: never, environment: {} }).catch((thrown) => thrown);
  expect(error).toMatchObject({
    code: 'IO',
    detail: { reason: expect.stringMatching(/cannot be used: E[A-Z]+/) },
  });
  expect(error.detail.reason).not.toContain(folder);
});

it('the folder may be a link', async () => {
  const { downloads, folder, variant, server } = await start(10);
  mkdirSync(`${folder}-real`);
  symlinkSync(`${folder}-real`, folder);
  const path = await downloads.pull(variant, { signal: never, environment: {} });
  expect(readFileSync(path).equals(server.content)).toBe(true);
});

it('a mirror has a path, and is an address', () => {
  const file = { hf: 'a/b/c.gguf' };
  const { url, token } = addressOf(file, { HF_ENDPOINT: 'https://mirror.test/hub/', HF_TOKEN: ' t\n' });
  expect([url.href, token]).toEqual(['https://mirror.test/hub/a/b/resolve/main/c.gguf', 't']);
  for (const HF_ENDPOINT of [
    'file:///tmp',
    'mirror.test',
    'https://u:p@mirror.test',
    'https://mirror.test?x=1',
  ])
    expect(() => addressOf(file, { HF_ENDPOINT }), HF_ENDPOINT).toThrow();
  expect(() => addressOf({ hf: 'a/b/c.gguf#../../x' }, {})).toThrow();
});

it('a downloads.json of somebody else is not written over', async () => {
  const deep = '['.repeat(100_000);
  const texts = ['{"mine": 1}', 'no json', '[]', deep, '\0'.repeat(9), ' '.repeat(5e6), '\ufeff{}'];
  for (const text of texts) {
    const { folder, pull } = await start(10);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'downloads.json'), text);
    await expect(pull()).rejects.toThrow(/downloads\.json: it is not a list of downloads/);
    expect(readFileSync(join(folder, 'downloads.json'), 'utf8')).toBe(text);
  }
});

it.skipIf(process.platform === 'win32')(
  'parts, states, locks and names of somebody else stay, and nothing waits for a pipe',
  async () => {
    const name = ({ folder, downloads, variant }: Awaited<ReturnType<typeof start>>) =>
      downloads.path(variant).slice(folder.length + 1);
    const places = {
      part: (file: string) => `${file}.part`,
      state: (file: string) => `${file}.part.json`,
      lock: () => '.lock',
      file: (file: string) => file,
    };
    for (const [what, placeOf] of Object.entries(places)) {
      for (const kind of ['text', 'pipe', 'link'] as const) {
        if (what === 'file' && kind !== 'link') continue; // is taken for the model
        const download = await start(10);
        const { folder, pull } = download;
        mkdirSync(folder, { recursive: true });
        const mine = join(folder, 'mine');
        const path = join(folder, placeOf(name(download)));
        if (kind === 'text') writeFileSync(path, 'dear diary');
        else if (kind === 'pipe') execFileSync('mkfifo', [path]);
        else symlinkSync(what === 'file' ? 'nowhere' : 'mine', path);
        writeFileSync(mine, 'dear diary');
        await expect(pull(), `${what}, ${kind}`).rejects.toMatchObject({ code: 'IO' });
        expect(readFileSync(mine, 'utf8')).toBe('dear diary');
        if (kind === 'text') expect(readFileSync(path, 'utf8')).toBe('dear diary');
        if (kind === 'pipe') expect(lstatSync(path).isFIFO()).toBe(true);
        if (kind === 'link') expect(lstatSync(path).isSymbolicLink()).toBe(true);
      }
    }
  },
);

it('removing and pruning touch nothing but downloads', async () => {
  const { folder, downloads, pull, server } = await start(1000);
  await pull();
  const other = { url: `${server.url}/other.gguf` };
  await downloads.pull(other, { signal: never, environment: {} });
  writeFileSync(join(folder, 'mine.gguf'), 'x');
  expect(await downloads.prune([other], never)).toHaveLength(1);
  expect(await downloads.remove(other, never)).toBe(1000);
  expect(readdirSync(folder).sort()).toEqual(['downloads.json', 'mine.gguf']);
  expect(JSON.parse(readFileSync(join(folder, 'downloads.json'), 'utf8')).downloads).toEqual({});
});

it('a downloads.json that lists files of others does not let them be pruned', async () => {
  const { folder, downloads } = await start(10);
  mkdirSync(join(folder, '01234567-folder'), { recursive: true });
  const others = ['mine.gguf', 'server-config.json', '../outside.gguf', '01234567-folder', 'x\u0000y'];
  const record = { url: 'x', sha256: 'x', size_bytes: -5, at: 'x' };
  const list = { version: 1, downloads: Object.fromEntries(others.map((name) => [name, record])) };
  writeFileSync(join(folder, 'downloads.json'), JSON.stringify(list));
  for (const name of ['mine.gguf', 'server-config.json', '../outside.gguf'])
    writeFileSync(join(folder, name), 'x');
  expect(await downloads.prune([], never)).toEqual([]);
  expect(readdirSync(folder)).toHaveLength(4);
  expect(existsSync(join(folder, '..', 'outside.gguf'))).toBe(true);
});
