import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Catalog } from '../../src/models/catalog.js';
import { CatalogModels } from '../../src/models/catalog-models.js';
import { Residency } from '../../src/models/residency.js';
import {
  type Answerer,
  embeddingsOf,
  FakeModelServer,
  remoteDimension,
  sendJson,
  vectorOf,
  wellBehaved,
} from '../helpers/fake-model-server.js';
import { temporaryFolder } from '../helpers/folder.js';
import { selfSigned } from '../helpers/self-signed.js';

const inFolder = temporaryFolder();
const secret = 'sk-this-is-the-secret';

/** Catalog models with one remote entry "far". */
async function open(remote: object, { variant = {}, entry = {} }: { variant?: object; entry?: object } = {}) {
  const folder = mkdtempSync(inFolder('remote-'));
  const variants = [{ context_size: 100, ...variant, remote: { model: 'far-away', retries: 1, ...remote } }];
  const models = [{ name: 'far', model_type: 'embedding', ...entry, variants }];
  const file = join(folder, 'models.json');
  writeFileSync(file, JSON.stringify({ version: 1, models }));
  const catalog = await Catalog.load(file);
  const lines: string[] = [];
  const write = (facts: object, message: string) => void lines.push(`${JSON.stringify(facts)} ${message}`);
  const residency = new Residency(catalog, { log: { info: write, error: write } });
  const catalogModels = new CatalogModels(catalog, { idleMs: 0 }, residency);
  onTestFinished(() => catalogModels.close());
  return { models: catalogModels, catalog, residency, folder, lines };
}

async function embedder(remote: object, more: Parameters<typeof open>[1] = {}) {
  const opened = await open(remote, more);
  const model = await opened.models.resolve('far');
  const embed = async (texts: readonly string[], signal?: AbortSignal) => {
    using lease = await model.lease();
    return await lease.model.embedSettled(texts, { signal });
  };
  return { ...opened, model, embed };
}

/** Answers probes as usual, and everything else with `answer`. */
const afterProbe = (answer: Answerer): Answerer => {
  let first = true;
  return (asked, response) => {
    if (!first) return answer(asked, response);
    first = false;
    return wellBehaved(asked, response);
  };
};

const length = (vector: Float32Array) => Math.hypot(...vector);

describe('a remote embedding model', () => {
  it('gives normalised vectors in the order of the texts, whatever the order of the answer', async () => {
    const server = await FakeModelServer.start(({ body }, response) => {
      const { data, ...rest } = embeddingsOf(body.input);
      sendJson(response, { ...rest, data: data.toReversed() });
    });
    const { embed, model } = await embedder({ url: server.url });
    expect(model.dimension).toBe(remoteDimension);
    const texts = ['bees make honey', 'glaciers move slowly', 'tides rise'];
    const { vectors, errors, tokens } = await embed(texts);
    expect(errors).toEqual([]);
    expect(tokens).toBe(9);
    for (const [at, text] of texts.entries()) {
      const row = vectors.subarray(at * remoteDimension, (at + 1) * remoteDimension);
      const raw = Float32Array.from(vectorOf(text));
      expect(length(row)).toBeCloseTo(1, 5);
      expect([...row].map((value) => value * length(raw))).toEqual(
        [...raw].map((value) => expect.closeTo(value, 4)),
      );
    }
    expect(server.requests.at(-1)).toMatchObject({
      path: '/v1/embeddings',
      body: { model: 'far-away', input: texts },
    });
  });

  it('sends batches within the limits of texts and of bytes', async () => {
    const server = await FakeModelServer.start();
    const { embed } = await embedder({ url: server.url, batch_texts: 4, batch_bytes: 1024 });
    await embed([...Array.from({ length: 9 }, (_, at) => `text ${at}`), 'x'.repeat(2000), 'last']);
    expect(server.inputs.map((input) => input.length).toSorted()).toEqual([1, 1, 1, 4, 4]);
  });

  it('asks at most `parallel` times at once', async () => {
    let now = 0;
    let most = 0;
    let allHere = () => {};
    const here = new Promise<void>((resolve) => {
      allHere = resolve;
    });
    const server = await FakeModelServer.start(async (asked, response) => {
      most = Math.max(most, ++now);
      // All of the first ones wait for each other.
      if (server.requests.length === 4) allHere();
      if (server.requests.length > 1) await here;
      now--;
      wellBehaved(asked, response);
    });
    const { embed } = await embedder({ url: server.url, batch_texts: 1, parallel: 3 });
    await Promise.all([1, 2, 3].map(() => embed(Array.from({ length: 20 }, (_, at) => `text ${at}`))));
    expect(server.requests).toHaveLength(61);
    expect(most).toBe(3);
  });

  it('uses its connections again', async () => {
    const ports = new Set<number | undefined>();
    const server = await FakeModelServer.start((asked, response) => {
      ports.add(response.socket?.remotePort);
      wellBehaved(asked, response);
    });
    const { embed } = await embedder({ url: server.url });
    for (const text of ['bees', 'glaciers', 'tides']) await embed([text]);
    expect(ports.size).toBe(1);
  });

  it('tries again after 429, 5xx and a lost connection, and not after other errors', async () => {
    const failures: Answerer[] = [
      (_, response) => sendJson(response, {}, 429, { 'retry-after': '0' }),
      (_, response) => sendJson(response, {}, 503, { 'retry-after': '0' }),
      (_, response) => response.destroy(),
    ];
    const server = await FakeModelServer.start(
      afterProbe((asked, response) => (failures.shift() ?? wellBehaved)(asked, response)),
    );
    const { embed } = await embedder({ url: server.url, retries: 3 });
    expect((await embed(['bees'])).errors).toEqual([]);
    expect(server.requests).toHaveLength(5);
    server.answer = (_, response) => sendJson(response, {}, 404);
    await expect(embed(['bees'])).rejects.toThrow(/does not know the address or the model \(status 404\)/);
    expect(server.requests).toHaveLength(6);
  });

  it('does not wait longer than ten seconds, whatever Retry-After says', async () => {
    const server = await FakeModelServer.start(
      afterProbe((_, response) => sendJson(response, {}, 429, { 'retry-after': '86400' })),
    );
    const { embed } = await embedder({ url: server.url, retries: 5 });
    await expect(embed(['bees'])).rejects.toThrow(/has too many requests \(status 429\)/);
    expect(server.requests).toHaveLength(2);
  });

  it('finds the texts that are too long, and embeds the others', async () => {
    const server = await FakeModelServer.start((asked, response) => {
      if (asked.body.input.every((text: string) => text.length < 50)) {
        wellBehaved(asked, response);
        return;
      }
      const error = { code: 400, message: 'input exceeds it', type: 'exceed_context_size_error' };
      sendJson(response, { error }, 400);
    });
    const { embed } = await embedder({ url: server.url });
    const { errors, vectors } = await embed(['a', 'b'.repeat(60), 'c', 'd', 'e'.repeat(900)]);
    expect(errors).toMatchObject([
      { index: 1, code: 'TEXT_TOO_LONG', limit: 100, tokens: 101 },
      { index: 4, code: 'TEXT_TOO_LONG', limit: 100, tokens: 300 },
    ]);
    expect(length(vectors.subarray(0, remoteDimension))).toBeCloseTo(1, 5);
    expect(length(vectors.subarray(remoteDimension, 2 * remoteDimension))).toBe(0);
  });

  it('ends its request when the caller stops waiting', async () => {
    const server = await FakeModelServer.start(afterProbe(() => {}));
    const { embed } = await embedder({ url: server.url });
    const stop = new AbortController();
    const embedding = embed(['bees'], stop.signal);
    embedding.catch(() => {});
    await vi.waitFor(() => expect(server.requests).toHaveLength(2));
    stop.abort(new Error('enough'));
    await expect(embedding).rejects.toThrow('enough');
    await server.requests[1]?.aborted;
  });

  it('closes after its pending calls, and refuses later ones', async () => {
    let go = () => {};
    const server = await FakeModelServer.start(
      afterProbe((asked, response) => {
        go = () => wellBehaved(asked, response);
      }),
    );
    const { embed, models } = await embedder({ url: server.url });
    const pending = embed(['bees']);
    await vi.waitFor(() => expect(server.requests).toHaveLength(2));
    const closing = models.close();
    go();
    expect((await pending).errors).toEqual([]);
    await closing;
    await expect(embed(['bees'])).rejects.toMatchObject({ code: 'CLOSED' });
  });
});

describe('a hostile server of an embedding model', () => {
  const data = (...embedding: unknown[]) => ({ data: [{ index: 0, embedding }] });
  const right = [1, 2, 3, 4, 5, 6, 7, 8];
  const answers: [string, unknown, RegExp][] = [
    ['another dimension', data(1, 2, 3), /embeddings of 3 numbers instead of 8; correct remote\.model/],
    ['too few vectors', { data: [] }, /0 embeddings for 1 texts/],
    ['too many vectors', { data: [...data(...right).data, ...data(...right).data] }, /2 embeddings for 1/],
    ['an index out of range', { data: [{ index: 7, embedding: right }] }, /index of a text that it was not/],
    ['a null', data(1, 2, 3, 4, 5, 6, 7, null), /not a finite number/],
    ['a text for a number', data(1, 2, 3, 4, 5, 6, 7, '8'), /not a finite number/],
    ['a vector of zeros', data(0, 0, 0, 0, 0, 0, 0, 0), /no direction/],
    ['numbers beyond any bound', data(1e308, 1e308, 3, 4, 5, 6, 7, 8), /no direction/],
    ['a text for a vector', { data: [{ index: 0, embedding: 'AAAA' }] }, /not a list of numbers/],
    ['no list', { hello: 'world' }, /without a list "data"/],
    ['an array', [1, 2, 3], /without a list "data"/],
    ['null', null, /without a list "data"/],
  ];
  it.each(answers)('that sends %s gets a clear error', async (_, answer, message) => {
    const server = await FakeModelServer.start(afterProbe((__, response) => sendJson(response, answer)));
    const { embed } = await embedder({ url: server.url });
    const error = await embed(['bees']).catch((thrown) => thrown);
    expect(error.message).toMatch(message);
    expect(error.message).toMatch(/model "far" of .*models\.json: the server 127\.0\.0\.1:\d+ /);
    expect(error).toMatchObject({ name: 'RemoteModelError', model: 'far' });
    expect(error.told).not.toMatch(/127\.0\.0\.1/);
  });

  const written: [string, Answerer, RegExp, number][] = [
    ['HTML', (_, response) => response.end('<html>Hello, <b>hacker</b>'), /not JSON; correct remote\.url/, 2],
    ['NaN', (_, response) => response.end('{"data":[{"index":0,"embedding":[NaN]}]}'), /not JSON/, 2],
    ['half an answer', (_, response) => response.end('{"data":[{"index":0,"emb'), /not JSON/, 2],
    [
      'a redirect',
      (_, response) => response.writeHead(307, { location: 'http://127.0.0.1:1/steal' }).end(),
      /redirects \(status 307\), which is not followed/,
      2,
    ],
    ['a refusal', (_, response) => sendJson(response, { error: 'no' }, 401), /refuses the secret/, 2],
    [
      'a cut connection',
      (_, response) => {
        response.writeHead(200, { 'content-length': '1000' });
        response.write('{"data"', () => response.destroy());
      },
      /connection was lost \(ECONNRESET\)/,
      3,
    ],
    ['nothing', () => {}, /does not answer within 300 ms/, 2],
    [
      'one byte now and then',
      async (asked, response) => {
        const timer = setInterval(() => response.write(' '), 20);
        await asked.aborted;
        clearInterval(timer);
      },
      /does not answer within 300 ms/,
      2,
    ],
  ];
  it.each(written)('that sends %s gets a clear error', async (_, answer, message, requests) => {
    const server = await FakeModelServer.start(afterProbe(answer));
    const { embed } = await embedder({ url: server.url, timeout_ms: 300 });
    await expect(embed(['bees'])).rejects.toThrow(message);
    expect(server.requests).toHaveLength(requests);
  });

  it('that sends without end is cut off, and its connection closed', async () => {
    let sent = 0;
    const server = await FakeModelServer.start(
      afterProbe((_, response) => {
        const more = (): void => {
          while (!response.destroyed && response.write('1,'.repeat(50_000))) sent += 100_000;
          response.once('drain', more);
        };
        response.write('{"data":[');
        more();
      }),
    );
    const { embed } = await embedder({ url: server.url });
    await expect(embed(['bees'])).rejects.toThrow(/answers with more than \d+ bytes/);
    await server.requests[1]?.aborted;
    expect(sent).toBeLessThan(20_000_000);
  });

  it('whose model changes is an error, not wrong vectors', async () => {
    const server = await FakeModelServer.start();
    const { residency, embed, models } = await embedder({ url: server.url });
    await embed(['bees']);
    server.answer = ({ body }, response) =>
      sendJson(
        response,
        embeddingsOf(body.input, (text) => vectorOf(text, remoteDimension, 99)),
      );
    expect(await residency.unload('far')).toBe(true);
    await expect(embed(['bees'])).rejects.toThrow(/computes another model than before/);
    await models.resolve('far'); // asks nothing
    await expect(embed(['bees'])).rejects.toThrow(/remote\.revision/);
  });

  it('that embeds all texts alike is refused', async () => {
    const server = await FakeModelServer.start(({ body }, response) =>
      sendJson(
        response,
        embeddingsOf(body.input, () => right),
      ),
    );
    await expect(embedder({ url: server.url })).rejects.toThrow(/embeds different texts alike/);
  });

  it('that has another dimension than the catalog says is refused', async () => {
    const server = await FakeModelServer.start();
    const opening = embedder({ url: server.url }, { entry: { dimension: 9 } });
    await expect(opening).rejects.toThrow(/embeddings of 8 numbers; the catalog says 9/);
  });
});

describe('the secret of a remote model', () => {
  it('comes from the environment or a file, and is in no log line and no error', async () => {
    vi.stubEnv('FAR_KEY', secret);
    onTestFinished(() => void vi.unstubAllEnvs());
    const server = await FakeModelServer.start(
      afterProbe(({ headers }, response) => sendJson(response, { error: headers.authorization }, 403)),
    );
    const { embed, lines, folder } = await embedder({ url: server.url, key_env: 'FAR_KEY' });
    expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${secret}`);
    const error = await embed(['bees']).catch((thrown) => thrown);
    const shown = [
      ...lines,
      error.message,
      error.told,
      error.stack,
      JSON.stringify(error),
      String(error.cause),
    ];
    for (const text of shown) expect(text).not.toContain(secret);
    server.answer = wellBehaved;
    writeFileSync(join(folder, 'key'), `${secret}\n`);
    await embedder({ url: server.url, key_file: join(folder, 'key') });
    expect(server.requests.at(-1)?.headers.authorization).toBe(`Bearer ${secret}`);
  });

  it('that is missing or unusable is an error that does not show it', async () => {
    const url = 'http://127.0.0.1:9/v1';
    await expect(embedder({ url, key_env: 'NOT_SET_ANYWHERE' })).rejects.toThrow(
      /the environment variable NOT_SET_ANYWHERE has no secret/,
    );
    vi.stubEnv('FAR_KEY', 'two\r\nlines: x');
    onTestFinished(() => void vi.unstubAllEnvs());
    const error = await embedder({ url, key_env: 'FAR_KEY' }).catch((thrown) => thrown);
    expect(error.message).toMatch(/FAR_KEY is not one line of printable ASCII/);
    expect(error.message).not.toContain('two');
    await expect(embedder({ url, key_file: 'absent' })).rejects.toThrow(/remote\.key_file cannot be read/);
  });
});

describe('the address of a remote model', () => {
  it('must be https unless it is of this machine, or insecure', async () => {
    await expect(open({ url: 'http://models.example/v1' })).rejects.toThrow(/https is expected/);
    await expect(open({ url: 'http://127.0.0.1.example/v1' })).rejects.toThrow(/https is expected/);
    await open({ url: 'http://models.example/v1', insecure: true });
    await open({ url: 'https://models.example/v1' });
    await open({ url: 'http://[::1]:8080/v1' });
    for (const url of [
      'ftp://x',
      'https://a:b@x/',
      'https://x/?key=1',
      'https://x/#a',
      'nothing',
      'https://x/ v1',
    ])
      await expect(open({ url })).rejects.toThrow(/an http or https address without user/);
  });

  it('over TLS is asked only if its certificate is trusted', async () => {
    const tls = selfSigned(inFolder);
    if (tls === undefined) return;
    const server = await FakeModelServer.start(wellBehaved, tls);
    await expect(embedder({ url: server.url })).rejects.toThrow(/no certificate that is trusted/);
    expect(server.requests).toEqual([]);
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    await expect(embedder({ url: server.url })).rejects.toThrow(/no certificate that is trusted/);
    vi.unstubAllEnvs();
    await embedder({ url: server.url, ca_file: tls.certFile });
    expect(server.requests).toHaveLength(1);
  });

  it('where nothing listens is an error that names the entry', async () => {
    const server = await FakeModelServer.start();
    server.stop();
    await expect(embedder({ url: server.url })).rejects.toThrow(/cannot be reached.*ECONNREFUSED/);
  });
});

describe('a catalog with remote models', () => {
  const url = 'http://127.0.0.1:9/v1';

  it('refuses fields of files, and models that must be computed here', async () => {
    await expect(open({ url }, { variant: { file: 'a.gguf' } })).rejects.toThrow(/exactly one of "file"/);
    await expect(open({ url }, { variant: { size_bytes: 5 } })).rejects.toThrow(/a remote model has no file/);
    await expect(open({ url }, { variant: { context_size: undefined } })).rejects.toThrow(
      /context_size: is miss/,
    );
    await expect(open({ url }, { entry: { pooling: 'mean' } })).rejects.toThrow(/pooling: the server/);
    await expect(open({ url }, { entry: { model_type: 'stt' } })).rejects.toThrow(/is computed here/);
    await expect(open({ url, key_env: 'A', key_file: 'b' })).rejects.toThrow(
      /one of "key_env" and "key_file"/,
    );
  });

  it('asks nobody if nobody named it', async () => {
    const server = await FakeModelServer.start();
    const { models, catalog } = await open({ url: server.url });
    catalog.mayAskOthers = false;
    expect(models.presentNames).toEqual([]);
    await expect(models.resolve('far')).rejects.toThrow(/found in the current folder; name it with --config/);
    expect(server.requests).toEqual([]);
  });
});
