/** Commands that change a knowledge base which other processes have open. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { updateThrough } from '../../src/cli/records/through-process.js';
import { KnowledgeBaseCache } from '../../src/knowledge/index.js';
import type { Forgotten } from '../../src/knowledge/operator/operator-socket.js';
import { peersOf } from '../../src/knowledge/operator/peers.js';
import { CatalogModels } from '../../src/models/catalog-models.js';
import { temporaryFolder } from '../helpers/folder.js';
import { lorekeep } from './command.js';
import { writeSample } from './sample.js';

const inFolder = temporaryFolder();
const waiting = { timeout: 30_000, interval: 20 };

async function run(...args: string[]) {
  const { status, stdout, stderr } = await lorekeep(args);
  return { status, stdout: stdout.trim(), stderr: stderr.trim() };
}
const json = async (...args: string[]) => {
  const { status, stdout, stderr } = await run(...args, '--json');
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
};

/** Opens a knowledge base as a server does, until the end of the test. */
async function opened(kb: string, readOnly = false) {
  const models = await CatalogModels.open();
  const told: Forgotten[] = [];
  const onForgotten = async (forgotten: Forgotten) => {
    told.push(forgotten);
    return [];
  };
  const cache = new KnowledgeBaseCache({ models, readOnly, onForgotten });
  const pin = await cache.open(kb);
  onTestFinished(async () => {
    await pin.release();
    await cache.close();
    await models.close();
  });
  return { kb: pin.value, told };
}

const builtSample = async (folder: string) => {
  const kb = writeSample((name) => join(folder, name));
  expect((await run('build', kb)).status).toBe(0);
  return kb;
};

/** The folder of the sockets beside the sample's records. */
const socketsOf = (kb: string) => {
  const { records_file } = JSON.parse(readFileSync(kb, 'utf8'));
  return join(dirname(kb), `${records_file}.operator`);
};

test.skipIf(process.platform === 'win32')(
  'a process that has changed a base lets merge and index in, and follows them',
  async () => {
    const folder = inFolder('docs');
    mkdirSync(folder);
    writeFileSync(join(folder, 'a.md'), 'The ferry leaves at nine.\n');
    const output = inFolder('docs-index');
    const index = async () =>
      expect((await run('index', folder, '--output', output)).stderr).not.toMatch(/lock/);
    await index();
    const file = join(output, 'kb.json');
    const { kb } = await opened(file);
    const text = async () => (await kb.list()).map((record) => record.text);
    await kb.add([{ id: 'bees', text: 'Bees sleep in winter.' }]);
    expect(await json('merge', file)).toEqual({ version: 1, size: 2 });
    await kb.add([{ id: 'whales', text: 'Whales sing.' }]);
    writeFileSync(join(folder, 'a.md'), 'The ferry leaves at ten.\n');
    await index();
    const now = ['The ferry leaves at ten.', 'Bees sleep in winter.', 'Whales sing.'];
    await vi.waitFor(async () => expect(await text()).toEqual(now), waiting);
    expect(kb.version).toBe(3);
    expect((await kb.remove(['bees'])).version).toBe(4);
  },
);

test.skipIf(process.platform === 'win32')(
  'add, remove and forget go through the process that holds the lock',
  async () => {
    mkdirSync(inFolder('one'));
    const file = await builtSample(inFolder('one'));
    const { kb, told } = await opened(file);
    const folder = socketsOf(file);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    const [socket] = readdirSync(folder);
    expect(statSync(join(folder, socket as string)).mode & 0o777).toBe(0o600);
    await kb.add([{ id: 'secret', text: 'The owl hides the amber key.' }]);
    expect(await json('add', file, '--id', 'b', '--text', 'Two lamps.')).toMatchObject({
      version: 2,
      added: 1,
    });
    expect(await json('remove', file, 'b')).toMatchObject({ version: 3, removed: 1 });
    expect((await run('add', file, '{"id":"c","text":"Three lamps."}')).stderr).toContain(
      'use --id and --text',
    );
    expect((await run('add', file, '--id', 'secret', '--text', 'x')).stderr).toContain(
      'a record with this id exists',
    );
    const forgotten = await json('forget', file, 'secret', '--verify');
    expect(forgotten).toEqual({
      version: 4,
      added: 0,
      replaced: 0,
      removed: 1,
      size: kb.size,
      histories: [],
      files_with: [],
    });
    expect(JSON.stringify(forgotten)).not.toContain('amber');
    expect(told).toMatchObject([{ ids: ['secret'], texts: ['The owl hides the amber key.'] }]);
    const { hits } = await kb.search({ text: 'amber key', topK: 20 });
    expect(hits.map(({ id }) => id)).not.toContain('secret');
  },
);

test.skipIf(process.platform === 'win32')(
  'a process that only reads forgets at once, and lets others change afterwards',
  async () => {
    mkdirSync(inFolder('two'));
    const file = await builtSample(inFolder('two'));
    const reader = await opened(file, true);
    const server = await opened(file);
    expect(await json('add', file, '--id', 'secret', '--text', 'The owl hides the amber key.')).toMatchObject(
      {
        version: 1,
      },
    );
    await vi.waitFor(async () => expect(await server.kb.has('secret')).toBe(true), waiting);
    await vi.waitFor(async () => expect(await reader.kb.has('secret')).toBe(true), waiting);
    await json('forget', file, 'secret');
    expect(await server.kb.has('secret')).toBe(false);
    expect(await reader.kb.has('secret')).toBe(false);
    expect(server.told).toHaveLength(1);
    expect(reader.told).toHaveLength(1);
    expect(await json('add', file, '--id', 'b', '--text', 'Two lamps.')).toMatchObject({ added: 1 });
    await vi.waitFor(async () => expect(await server.kb.has('b')).toBe(true), waiting);
    await server.kb.add([{ id: 'c', text: 'Three lamps.' }]);
  },
);

test.skipIf(process.platform === 'win32')(
  'a folder of sockets that others can open is not used, and a long path is no problem',
  async () => {
    const deep = inFolder(join('three', 'x'.repeat(60), 'y'.repeat(60)));
    mkdirSync(deep, { recursive: true });
    const file = await builtSample(deep);
    mkdirSync(socketsOf(file), { mode: 0o755 });
    chmodSync(socketsOf(file), 0o755);
    const first = await opened(file);
    expect(readdirSync(socketsOf(file))).toEqual([]);
    await first.kb.close();
    chmodSync(socketsOf(file), 0o700);
    const second = await opened(file);
    await second.kb.add([{ id: 'a', text: 'One lamp.' }]);
    expect(await json('add', file, '--id', 'b', '--text', 'Two lamps.')).toMatchObject({ version: 2 });
    expect(existsSync(socketsOf(file))).toBe(true);
  },
);

test.skipIf(process.platform === 'win32')(
  'a process that does not answer is told from the others',
  async () => {
    mkdirSync(inFolder('mute'));
    const file = await builtSample(inFolder('mute'));
    await opened(file);
    const folder = socketsOf(file);
    const mute = createServer(() => {});
    const socket = join(folder, `${process.pid}-mute.sock`);
    await new Promise<void>((resolve) => void mute.listen(socket, resolve));
    const found = await peersOf(folder.replace(/\.operator$/, ''), 300);
    expect(found.unreached).toEqual([process.pid]);
    expect(found.peers).toMatchObject([{ facts: { pid: process.pid, isWriter: false } }]);
    mute.close();
  },
);

test.skipIf(process.platform === 'win32')('many commands at once are all answered', async () => {
  mkdirSync(inFolder('many'));
  const file = await builtSample(inFolder('many'));
  const { kb } = await opened(file);
  await kb.add([{ id: 'a', text: 'One lamp.' }]);
  const before = kb.size;
  const ids = Array.from({ length: 40 }, (_, n) => `many-${n}`);
  const add = (id: string) =>
    updateThrough(file, { add: [{ id, text: `Lamp ${id}.` }] }, AbortSignal.timeout(30_000));
  await Promise.all(ids.map(add));
  expect(kb.size).toBe(before + ids.length);
});

test.skipIf(process.platform === 'win32')(
  'a batch that is too long for the process it goes through is refused with the limit and a way out',
  async () => {
    mkdirSync(inFolder('long'));
    const file = await builtSample(inFolder('long'));
    const { kb } = await opened(file);
    await kb.add([{ id: 'a', text: 'One lamp.' }]);
    const add = [{ id: 'b', text: 'x'.repeat(128 * 2 ** 20) }];
    const told = new RegExp(`more than 128 MiB as JSON, .* process ${process.pid}, .* in several batches`);
    await expect(updateThrough(file, { add }, AbortSignal.timeout(30_000))).rejects.toThrow(told);
    expect(await kb.has('b')).toBe(false);
  },
);

test.skipIf(process.platform === 'win32')(
  'a change of a command that is interrupted is not made by the process that it goes through',
  async () => {
    mkdirSync(inFolder('interrupted'));
    const config = join(inFolder('interrupted'), 'kb.json');
    writeFileSync(config, JSON.stringify({ embedding_model: 'own', records_file: 'records.json' }));
    writeFileSync(join(dirname(config), 'records.json'), JSON.stringify([{ id: 'a', text: 'One lamp.' }]));
    const command = new AbortController();
    const ended: unknown[] = [];
    const embedder = {
      dimension: 1,
      fingerprint: 'constant',
      embed: async (texts: readonly string[], { signal }: { signal?: AbortSignal | undefined }) => {
        if (texts[0] !== 'slow') return texts.map(() => [1]);
        command.abort(new Error('interrupted'));
        return new Promise<number[][]>((_, reject) => {
          signal?.addEventListener('abort', () => {
            ended.push(signal.reason);
            reject(signal.reason);
          });
        });
      },
    };
    const cache = new KnowledgeBaseCache({ models: embedder, onForgotten: async () => [] });
    const pin = await cache.open(config);
    onTestFinished(async () => {
      await pin.release();
      await cache.close();
    });
    await pin.value.add([{ id: 'b', text: 'Two lamps.' }]);
    const batch = { add: [{ id: 'c', text: 'slow' }] };
    await expect(updateThrough(config, batch, command.signal)).rejects.toThrow('interrupted');
    await vi.waitFor(() => expect(ended).toHaveLength(1), waiting);
    expect([pin.value.version, await pin.value.has('c')]).toEqual([1, false]);
  },
);
