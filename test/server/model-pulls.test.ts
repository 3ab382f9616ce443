import { createHash, randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { PullProgress } from '../../src/client/index.js';
import { ModelDownloads } from '../../src/models/downloads/model-downloads.js';
import type { ServerFrames } from '../../src/protocol/frames.js';
import { FileServer } from '../downloads/file-server.js';
import { refusal } from '../helpers/errors.js';
import { temporaryFolder } from '../helpers/folder.js';
import { tinyReranker } from '../helpers/rerankers.js';
import { createTinyModel } from '../helpers/tiny-model/tiny-model.mjs';
import { contextSize, dimension, strings } from './corpus.js';
import { TestServer } from './test-server.js';

const inFolder = temporaryFolder();
let folders = 0;

const sha256 = (content: Buffer) => createHash('sha256').update(content).digest('hex');

/** A server whose catalog has a model on a file server, and a client's session. */
async function start(config: object = {}, variant: object = {}, content = randomBytes(1_000_000)) {
  const folder = inFolder(`server-${++folders}`);
  const files = await FileServer.listen(content);
  const local = join(inFolder(), 'tiny.gguf');
  if (!existsSync(local)) await createTinyModel({ texts: strings, path: local, dimension, contextSize });
  const catalog = `${folder}.json`;
  const far = { name: 'Q8_0', url: `${files.url}/far.gguf`, sha256: sha256(content), ...variant };
  const models = [
    { name: 'tiny', model_type: 'embedding', license: 'MIT', variants: [{ file: local }] },
    { name: 'far', model_type: 'llm', license: 'Apache-2.0', variants: [far] },
    { name: 'judge', model_type: 'reranker', variants: [{ file: await tinyReranker('one-layer') }] },
    { name: 'ears', model_type: 'stt', variants: [{ hf: 'nobody/ears/ears.bin', size_bytes: 77 }] },
    { name: 'gate', model_type: 'vad', variants: [{ file: 'silero.bin' }] },
    { name: 'farther', model_type: 'llm', variants: [{ ...far, url: `${files.url}/farther.gguf` }] },
  ];
  writeFileSync(catalog, JSON.stringify({ version: 1, models }));
  const settings = { models_catalog_path: catalog, models_download_dir: folder, allow_model_pulls: true };
  const onIdle = vi.fn();
  const server = await TestServer.start({ config: { ...settings, ...config }, onIdle });
  return { server, files, folder, content, onIdle, session: await server.session() };
}

/** Lets the file server hold its answers back after their first half. */
function holdBack(files: FileServer) {
  let release = () => {};
  let asked = () => {};
  const reached = new Promise<void>((resolve) => {
    asked = resolve;
  });
  files.intercept = (_, response) => {
    const { content } = files;
    const half = content.length / 2;
    response.writeHead(200, { 'content-length': content.length, etag: files.etag });
    response.write(content.subarray(0, half), () => asked());
    release = () => response.end(content.subarray(half));
    return true;
  };
  return { reached, release: () => release() };
}

const downloaded = (folder: string) =>
  existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.gguf')) : [];

describe('the list of models', () => {
  it('has every type, the state of every variant, what is loaded, and the shared memory', async () => {
    const { session } = await start({ models_cache_max_mb: 500 });
    await session.createEmbeddedStringStorage({ name: 'docs', strings, embeddingModel: 'tiny' });
    const { models, memory, pullsAllowed } = await session.listModels();
    expect(pullsAllowed).toBe(true);
    expect(models.map(({ name, type, loaded }) => [name, type, loaded])).toEqual([
      ['tiny', 'embedding', true],
      ['far', 'llm', false],
      ['judge', 'reranker', false],
      ['ears', 'stt', false],
      ['gate', 'vad', false],
      ['farther', 'llm', false],
    ]);
    expect(models[0]).toMatchObject({
      license: 'MIT',
      device: 'CPU',
      contextSize,
      chosenBecause: 'the first that is present',
      variants: [{ state: 'present', downloadable: false, chosen: true, device: 'CPU' }],
    });
    expect(models[1]?.variants).toEqual([
      { name: 'Q8_0', state: 'absent', downloadable: true, chosen: true, device: 'CPU' },
    ]);
    expect(models[3]?.variants[0]?.sizeBytes).toBe(77);
    expect(models[3]?.variants[0]?.device).toBe('CPU');
    expect(memory).toEqual([{ device: 'CPU', used: models[0]?.memoryBytes, limit: 500 * 1024 * 1024 }]);
    expect(JSON.stringify(models)).not.toContain(inFolder());
  });

  it('needs a session', async () => {
    const { server } = await start();
    const raw = await server.raw();
    const reply = await raw.request<never>({ type: 'ListModelsRequest', id: 1, session_id: 's99' });
    expect(reply).toMatchObject({ type: 'Error', code: 2001 });
  });
});

describe('a pull', () => {
  it('is refused unless the operator allows it, and nothing is asked for', async () => {
    const { session, files } = await start({ allow_model_pulls: false });
    expect((await session.listModels()).pullsAllowed).toBe(false);
    expect(await refusal(session.pullModel({ model: 'far' }))).toMatchObject({
      code: 5007,
      details: { field: 'allow_model_pulls' },
    });
    expect(files.requests).toEqual([]);
  });

  it('downloads, verifies, tells how far it is, and is nothing the second time', async () => {
    const { session, folder, content, files } = await start();
    const told: PullProgress[] = [];
    const pulled = await session.pullModel(
      { model: 'far' },
      { onProgress: (progress) => told.push(progress) },
    );
    expect(pulled).toMatchObject({ model: 'far', variant: 'Q8_0', downloaded: true });
    const [file] = downloaded(folder);
    expect(readFileSync(join(folder, file as string)).equals(content)).toBe(true);
    expect(told.length).toBeGreaterThan(0);
    for (const { model, file: name, totalBytes, doneBytes } of told) {
      expect([model, name, totalBytes]).toEqual(['far', file, content.length]);
      expect(doneBytes).toBeLessThanOrEqual(content.length);
    }
    const [listed] = (await session.listModels()).models.filter(({ name }) => name === 'far');
    expect(listed?.variants[0]).toMatchObject({ state: 'present', sizeBytes: content.length });
    expect(await session.pullModel({ model: 'far' })).toMatchObject({ downloaded: false });
    expect(files.requests).toHaveLength(1);
  });

  it('whose onProgress throws is cancelled and rejects with that error; the connection stays', async () => {
    const { session, files } = await start();
    const { reached } = holdBack(files);
    const failure = new Error('no more disk for the log');
    const pull = session.pullModel(
      { model: 'far' },
      {
        onProgress: () => {
          throw failure;
        },
      },
    );
    await expect(pull).rejects.toBe(failure);
    await reached;
    expect((await session.listModels()).pullsAllowed).toBe(true);
  });

  it.each([
    ['lost', 400_000],
    ['gained', 1_000_001],
  ])(
    'of a download that has %s bytes since is refused with both lengths, and the list says so',
    async (_, length) => {
      const { session, folder, files } = await start();
      await session.pullModel({ model: 'far' });
      const path = join(folder, downloaded(folder)[0] as string);
      truncateSync(path, length);
      const error = await refusal(session.pullModel({ model: 'far' }));
      const lengths = `it has ${length} bytes, not 1000000`;
      expect(error).toMatchObject({
        code: 5008,
        message: expect.stringContaining(`is there and damaged: ${lengths}; remove it first (models remove)`),
      });
      expect(error.message).not.toContain(folder);
      const [listed] = (await session.listModels()).models.filter(({ name }) => name === 'far');
      expect(listed?.variants[0]?.contradictions?.[0]).toBe(`file: ${lengths}`);
      expect(listed?.variants[0]?.unusable).toBe(`file: ${lengths}`);
      expect([files.requests.length, readFileSync(path).length]).toEqual([1, length]);
    },
  );

  it('is one download for all who wait, and goes on when one of them cancels', async () => {
    const { server, session, files, folder } = await start();
    const other = await server.session();
    const { reached, release } = holdBack(files);
    const stop = new AbortController();
    const first = session.pullModel({ model: 'far' }, { signal: stop.signal }).catch((reason) => reason);
    await reached;
    const second = other.pullModel({ model: 'far' });
    await vi.waitFor(async () => expect((await other.listModels()).models).toHaveLength(6));
    stop.abort(new Error('enough'));
    expect(await first).toMatchObject({ message: 'enough' });
    // The cancellation is a request of its own, answered before this one.
    await session.listModels();
    release();
    expect(await second).toMatchObject({ downloaded: true });
    expect(files.requests).toHaveLength(1);
    expect(downloaded(folder)).toHaveLength(1);
  });

  it('ends when its last waiter cancels, and continues where it stopped the next time', async () => {
    const { server, files, folder, content } = await start();
    const raw = await server.raw();
    const made = await raw.request<ServerFrames['CreateSessionResponse']>({
      type: 'CreateSessionRequest',
      id: 1,
    });
    const { session_id } = made;
    const { reached } = holdBack(files);
    const pulled = raw.request<never>({ type: 'PullModelRequest', id: 2, session_id, model: 'far' });
    await reached;
    await raw.next<never>(({ type }) => type === 'PullProgress');
    const ack = await raw.request<never>({ type: 'CancelPullRequest', id: 3, session_id, model: 'far' });
    expect(ack).toMatchObject({ type: 'Ack' });
    expect(await pulled).toMatchObject({ type: 'Error', code: 5009, name: 'PullCancelled' });
    expect(downloaded(folder)).toEqual([]);
    files.intercept = () => false;
    const again = await raw.request<never>({ type: 'PullModelRequest', id: 4, session_id, model: 'far' });
    expect(again).toMatchObject({ type: 'PullModelResponse', downloaded: true });
    expect(files.requests.at(-1)?.range).toMatch(/^bytes=[1-9]/);
    expect(readFileSync(join(folder, downloaded(folder)[0] as string)).equals(content)).toBe(true);
  });

  it('goes on without its session, and keeps an idle server from ending', async () => {
    const { server, session, files, folder, onIdle } = await start({ idle_shutdown_timeout: 1 });
    const { reached, release } = holdBack(files);
    const pulled = refusal(session.pullModel({ model: 'far' }));
    await reached;
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true });
    try {
      await session.destroy();
      expect(await pulled).toMatchObject({ code: 2002 });
      vi.advanceTimersByTime(10_000);
      expect(onIdle).not.toHaveBeenCalled();
      release();
      while (downloaded(folder).length === 0) await new Promise((resolve) => setImmediate(resolve));
      // The idle time begins when the download has ended.
      while (onIdle.mock.calls.length === 0) {
        vi.advanceTimersByTime(1000);
        await new Promise((resolve) => setImmediate(resolve));
      }
    } finally {
      vi.useRealTimers();
    }
    expect(server.server.connections).toBe(1);
  });

  it('is ended by a server that stops', async () => {
    const { server, session, files } = await start();
    const { reached } = holdBack(files);
    const pulled = refusal(session.pullModel({ model: 'far' }));
    await reached;
    const stopped = server.server.stop();
    expect(await pulled).toMatchObject({ code: 1008 });
    await stopped;
  });

  it.each([
    [{ model: 'fra' }, 5010, /there is no model "fra"/, { path: 'model', nearest: 'far' }],
    [{ model: 'tiny' }, 5010, /model "tiny" has no variant with "url" or "hf"/, { path: 'model' }],
    [{ model: 'far', variant: 'Q2' }, 5010, /no downloadable variant "Q2"; it has "Q8_0"/, {}],
    [{ model: '' }, 1004, /model/, { path: 'model' }],
  ])('of %j is refused', async (fields, code, message, details) => {
    const { session } = await start();
    const error = await refusal(session.pullModel(fields));
    expect(error).toMatchObject({ code, message: expect.stringMatching(message), details });
  });

  it('that fails says why, without paths and queries of addresses', async () => {
    const { session } = await start({}, { url: 'http://127.0.0.1:1/far.gguf?secret=1', sha256: undefined });
    const slow = await start({}, { sha256: '0'.repeat(64) });
    const error = await refusal(slow.session.pullModel({ model: 'far' }));
    expect(error).toMatchObject({
      code: 5008,
      details: { model: 'far' },
      message: expect.stringMatching(/^model "far": its SHA-256 is /),
    });
    expect(error.message).not.toContain(slow.folder);
    expect(downloaded(slow.folder)).toEqual([]);
    expect((await session.listModels()).pullsAllowed).toBe(true);
  });

  it('have the minimum speed of models_download_min_speed', async () => {
    const pull = vi.spyOn(ModelDownloads.prototype, 'pull');
    const { session } = await start({ models_download_min_speed: 7 });
    expect(await session.pullModel({ model: 'far' })).toMatchObject({ downloaded: true });
    expect(pull.mock.contexts).toMatchObject([{ minSpeed: 7 }]);
    pull.mockRestore();
  });

  it.each([
    ['the catalog states', { size_bytes: 1_500_000 }],
    ['the file server announces', {}],
  ])('beyond models_download_max_mb is refused, by the length that %s', async (_, variant) => {
    const content = randomBytes(1_500_000);
    const { session, folder } = await start({ models_download_max_mb: 1 }, variant, content);
    const error = await refusal(session.pullModel({ model: 'far' }));
    expect(error).toMatchObject({
      code: 5007,
      details: { field: 'models_download_max_mb', bytes: 1_500_000, allowed: 1024 * 1024 },
    });
    expect(downloaded(folder)).toEqual([]);
  });

  it('beyond models_download_max_mb is refused, also of two models that are pulled at once', async () => {
    const content = randomBytes(700_000);
    const { session, folder, files } = await start({ models_download_max_mb: 1 }, {}, content);
    const { reached, release } = holdBack(files);
    const first = session.pullModel({ model: 'far' });
    await reached;
    const second = refusal(session.pullModel({ model: 'farther' }));
    // The second waits for its turn by now.
    await session.listModels();
    files.intercept = () => false;
    release();
    expect(await first).toMatchObject({ downloaded: true });
    expect(await second).toMatchObject({ code: 5007, details: { field: 'models_download_max_mb' } });
    expect(downloaded(folder)).toHaveLength(1);
  });

  it('beyond models_download_max_mb is refused, also where parts of other downloads lie', async () => {
    const { session, folder } = await start({ models_download_max_mb: 1 }, {}, randomBytes(700_000));
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, '01234567-other.gguf.part'), randomBytes(400_000));
    expect(await refusal(session.pullModel({ model: 'far' }))).toMatchObject({
      code: 5007,
      details: { field: 'models_download_max_mb', bytes: 700_000, allowed: 1024 * 1024 - 400_000 },
    });
    rmSync(join(folder, '01234567-other.gguf.part'));
    expect(await session.pullModel({ model: 'far' })).toMatchObject({ downloaded: true });
  });
});
