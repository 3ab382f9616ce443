import { createServer, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { RemoteEmbeddingModel } from '../../src/models/remote/embedding-model.js';
import { EventStream } from '../../src/models/remote/event-stream.js';
import { RemoteLanguageModel } from '../../src/models/remote/language-model.js';
import type { RemoteModelError } from '../../src/models/remote/remote-model-error.js';
import { RemoteServer } from '../../src/models/remote/remote-server.js';
import { RemoteReranker } from '../../src/models/remote/reranker.js';
import { remoteSchema } from '../../src/models/remote/settings.js';
import {
  embeddingsOf,
  FakeModelServer,
  ranksOf,
  replyEvents,
  sendEvents,
  sendJson,
  wellBehaved,
} from '../helpers/fake-model-server.js';
import { random, testSeed } from '../helpers/random.js';

/** Embeds a text with a model whose server answers with bytes of its own. */
async function embedWith(answer: (socket: Socket) => void) {
  let connections = 0;
  const sockets = new Set<Socket>();
  const peer = createServer((socket) => {
    connections++;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('data', () => answer(socket));
  });
  await new Promise<void>((resolve) => void peer.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    peer.close();
    for (const socket of sockets) socket.destroy();
  });
  const { port } = peer.address() as { port: number };
  const settings = { url: `http://127.0.0.1:${port}`, model: 'far-away', retries: 1, timeout_ms: 500 };
  const server = await RemoteServer.open(
    { name: 'far', file: '/models.json' },
    remoteSchema.parse(settings),
    (file) => file,
  );
  onTestFinished(() => server.close());
  const { signal } = new AbortController();
  const model = await RemoteEmbeddingModel.open(server, { contextSize: 100, dimension: 8, signal });
  const error = await model.embedSettled(['bees']).then(
    () => undefined,
    (thrown) => thrown,
  );
  return { error, connections };
}

const untilClosed = (socket: Socket, write: () => void, ms: number) => {
  const timer = setInterval(write, ms);
  socket.on('close', () => clearInterval(timer));
};

describe('a server of a remote model that breaks HTTP', () => {
  const ok = 'HTTP/1.1 200 OK\r\n';
  it.each<[string, (socket: Socket) => void, RegExp, number]>([
    ['no HTTP', (socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'), /not HTTP \(HPE_\w+\)/, 1],
    [
      'huge headers',
      (socket) => socket.write(`${ok}x-a: ${'a'.repeat(70_000)}\r\n\r\n`),
      /not HTTP \(HPE_HEADER/,
      1,
    ],
    [
      'two lengths',
      (socket) => socket.end(`${ok}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n{}`),
      /not HTTP \(HPE_\w+\)/,
      1,
    ],
    [
      'a broken chunk',
      (socket) => socket.end(`${ok}transfer-encoding: chunked\r\n\r\nzz\r\n{}`),
      /connection was lost/,
      2,
    ],
    [
      'headers without end',
      (socket) => {
        socket.write(ok);
        untilClosed(socket, () => socket.write('x-a: b\r\n'), 20);
      },
      /does not answer within 500 ms/,
      1,
    ],
    [
      'interim answers without end',
      (socket) => untilClosed(socket, () => socket.write('HTTP/1.1 102 Processing\r\n\r\n'.repeat(50)), 5),
      /does not answer within 500 ms/,
      1,
    ],
    [
      'chunks without end',
      (socket) => {
        socket.write(`${ok}transfer-encoding: chunked\r\n\r\n`);
        untilClosed(socket, () => socket.write('1\r\n \r\n'.repeat(10)), 5);
      },
      /does not answer within 500 ms/,
      1,
    ],
    [
      'another protocol',
      (socket) =>
        socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
      /connection was lost/,
      2,
    ],
    ['nothing, and closes', (socket) => socket.end(), /connection was lost \(ECONNRESET\)/, 2],
  ])('by %s gets a clear error', async (_, answer, message, asked) => {
    const { error, connections } = await embedWith(answer);
    expect(error.message).toMatch(message);
    expect(error.name).toBe('RemoteModelError');
    expect(connections).toBe(asked);
  });
});

describe('a hostile answer of a remote model', () => {
  async function open(answer: Parameters<typeof FakeModelServer.start>[0], more: object = {}) {
    const peer = await FakeModelServer.start(answer);
    const settings = remoteSchema.parse({ url: peer.url, model: 'far-away', retries: 2, ...more });
    const server = await RemoteServer.open({ name: 'far', file: '/models.json' }, settings, (file) => file);
    onTestFinished(() => server.close());
    return { peer, server };
  }
  const post = (server: RemoteServer) => server.post('/embeddings', {}, { maxBytes: 1_000_000 });

  it('that is compressed unasked is not inflated', async () => {
    const bomb = gzipSync(Buffer.alloc(10_000_000));
    const { server, peer } = await open((_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb);
    });
    await expect(post(server)).rejects.toThrow(/something that is not JSON/);
    expect(peer.requests[0]?.headers['accept-encoding']).toBe('identity');
  });

  it('that is nested deeply is no defect', async () => {
    const { server } = await open((_, response) => response.end('['.repeat(400_000) + ']'.repeat(400_000)));
    const { signal } = new AbortController();
    const opening = RemoteEmbeddingModel.open(server, { contextSize: 100, signal });
    await expect(opening).rejects.toThrow(/without a list "data"|not JSON/);
  });

  it.each(['-5', 'soon', '', '0x10', 'Thu, 01 Jan 1970 00:00:00 GMT', '0'])(
    'that asks for a pause of "%s" is asked again without much delay',
    async (pause) => {
      let busy = true;
      const { server } = await open((asked, response) => {
        if (!busy) return wellBehaved({ ...asked, body: { input: [] } }, response);
        busy = false;
        return sendJson(response, {}, 429, { 'retry-after': pause });
      });
      expect(await post(server)).toMatchObject({ data: [] });
    },
  );

  it.each(['9'.repeat(400), '1e9', '86400', 'Fri, 31 Dec 9999 23:59:59 GMT'])(
    'that asks for a pause of "%s" holds no request',
    async (pause) => {
      const { server, peer } = await open(
        (_, response) => sendJson(response, {}, 503, { 'retry-after': pause }),
        {
          retries: 0,
        },
      );
      const error = await post(server).then(String, (thrown: RemoteModelError) => thrown);
      if (typeof error === 'string') throw new Error(error);
      expect(error.message).toMatch(/fails \(status 503\)/);
      expect(error.pauseMs ?? 0).toBeLessThanOrEqual(3_600_000);
      expect(peer.requests).toHaveLength(1);
    },
  );

  it('that has an infinite score is an error', async () => {
    const { server } = await open((_, response) =>
      response.end('{"results":[{"index":0,"relevance_score":1e999},{"index":1,"relevance_score":-1e999}]}'),
    );
    const ranking = new RemoteReranker(server, 100).rank('tide', ['the tide', 'a bee']);
    await expect(ranking).rejects.toThrow(/a score that is not a finite number/);
  });

  it('that comes in tiny parts of a long line is read in time that grows with its length', () => {
    const events = new EventStream();
    const part = Buffer.from('aaaaaaaa');
    expect(events.push(Buffer.from('data: '))).toEqual([]);
    for (let at = 0; at < 32_000; at++) events.push(part);
    expect(events.push(Buffer.from('\n\n'))?.[0]).toHaveLength(256_000);
  });

  it.each([
    ['in one line', 'data: ', 'a'.repeat(300_000), '\n\n'],
    ['in many lines', '', 'data: aaaaaaaa\n'.repeat(20_000), '\n'],
  ])('that is one event of very many characters %s is cut off', (_, ...parts) => {
    expect(new EventStream().push(Buffer.from(parts.join('')))).toBeUndefined();
    const events = new EventStream();
    expect(parts.map((part) => events.push(Buffer.from(part)))).toContain(undefined);
  });
});

describe('answers of a remote model with a defect somewhere', () => {
  const next = random(testSeed);
  const odd = [
    'null',
    'true',
    '-1',
    '0.5',
    '1e999',
    '-0',
    '9007199254740993',
    '""',
    '"1"',
    '"\\ud800"',
    '[]',
    '[[]]',
    '{}',
    '{"__proto__":{"length":2}}',
    '{"length":2,"0":1}',
  ];

  /** Returns the JSON of a value in which one part is another one, is there twice, or is left out. */
  function damaged(value: unknown): string {
    const parts: { of: Record<string, unknown>; key: string }[] = [];
    const visit = (of: unknown): void => {
      if (typeof of !== 'object' || of === null) return;
      for (const [key, part] of Object.entries(of)) {
        parts.push({ of: of as Record<string, unknown>, key });
        visit(part);
      }
    };
    const copy = structuredClone(value);
    visit(copy);
    const { of, key } = parts[Math.floor(next() * parts.length)] as (typeof parts)[number];
    const kind = next();
    if (kind < 0.1 && Array.isArray(of)) of.push(of[0]);
    else if (kind < 0.2) delete of[key];
    else of[key] = '@odd@';
    return JSON.stringify(copy).replace('"@odd@"', odd[Math.floor(next() * odd.length)] as string);
  }

  async function server(answer: Parameters<typeof FakeModelServer.start>[0]) {
    const peer = await FakeModelServer.start(answer);
    // A breaker would answer in the peer's place, and its patience is no part of this.
    const settings = remoteSchema.parse({ url: peer.url, model: 'far-away', retries: 0, timeout_ms: 60_000 });
    const opened = await RemoteServer.open({ name: 'far', file: '/models.json' }, settings, (file) => file);
    onTestFinished(() => opened.close());
    return opened;
  }

  const isClear = (error: unknown) => (error as Error).name === 'RemoteModelError';

  it('are vectors of length one in the order of their texts, or a clear error', async () => {
    const texts = ['bees dance', 'tides rise', 'the moon'];
    let sound = true;
    const far = await server(({ body }, response) => {
      const usual = embeddingsOf(body.input);
      response.end(sound ? JSON.stringify(usual) : damaged(usual));
    });
    const { signal } = new AbortController();
    const model = await RemoteEmbeddingModel.open(far, { contextSize: 100, dimension: 8, signal });
    const { vectors: expected } = await model.embedSettled(texts);
    sound = false;
    let [right, refused] = [0, 0];
    for (let n = 0; n < 300; n++) {
      const answer = await model.embedSettled(texts).catch((error: unknown) => error as Error);
      if (answer instanceof Error) {
        expect(isClear(answer), `${answer} (seed ${testSeed})`).toBe(true);
        refused++;
        continue;
      }
      const found = answer.vectors;
      for (let row = 0; row < 3; row++)
        expect(Math.hypot(...found.subarray(8 * row, 8 * row + 8))).toBeCloseTo(1, 4);
      const isSame = found.every((value, at) => Math.abs(value - (expected[at] as number)) < 1e-6);
      right += isSame ? 1 : 0;
    }
    expect(Math.min(right, refused)).toBeGreaterThan(10);
  });

  it('are an order of all documents, or a clear error', async () => {
    const documents = ['bees dance', 'the moon makes tides', 'tides rise', 'the moon'];
    const far = await server(({ body }, response) =>
      response.end(damaged(ranksOf(body.query, body.documents))),
    );
    const model = new RemoteReranker(far, 512);
    let [right, refused] = [0, 0];
    for (let n = 0; n < 300; n++) {
      const found = await model.rank('moon and tides', documents).catch((error: unknown) => error);
      if (found instanceof Error) {
        expect(isClear(found), `${found} (seed ${testSeed})`).toBe(true);
        refused++;
        continue;
      }
      const { results, tokens } = found as Awaited<ReturnType<typeof model.rank>>;
      expect(results.map(({ index }) => index).toSorted()).toEqual([0, 1, 2, 3]);
      expect(results.every(({ score }) => Number.isFinite(score))).toBe(true);
      expect(Number.isSafeInteger(tokens) && tokens >= 0, `${tokens}`).toBe(true);
      right++;
    }
    expect(Math.min(right, refused)).toBeGreaterThan(10);
  });

  it('are a reply whose parts are texts, or a clear error', async () => {
    const far = await server((_, response) => {
      const events = replyEvents('Hello, kind world.').map((event) =>
        typeof event === 'string' ? event : JSON.stringify(event),
      );
      const at = Math.floor(next() * (events.length - 1));
      events[at] = damaged(JSON.parse(events[at] as string));
      sendEvents(response, events);
    });
    const model = new RemoteLanguageModel(far, 1000);
    let [right, refused] = [0, 0];
    for (let n = 0; n < 300; n++) {
      const generation = model.generate({ messages: [{ role: 'user', content: 'Hello' }] }, {});
      generation.result.catch(() => {});
      try {
        for await (const { text } of generation) expect(typeof text).toBe('string');
        const { text, usage } = await generation.result;
        expect(Buffer.from(text).toString()).toBe(text); // no lone surrogates
        for (const count of Object.values(usage))
          expect(Number.isSafeInteger(count) && count >= 0, `${count}`).toBe(true);
        right++;
      } catch (error) {
        expect(isClear(error), `${error} (seed ${testSeed})`).toBe(true);
        refused++;
      }
    }
    expect(right).toBeGreaterThan(10);
    expect(refused).toBeGreaterThan(0);
  });
});
