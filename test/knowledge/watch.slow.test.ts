/** Watching a folder: its index follows every change, embeds nothing twice, and equals a fresh index. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import {
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFailed,
  onTestFinished,
  test,
  vi,
} from 'vitest';
import { type WatchFolderOptions, watchFolder } from '../../src/knowledge/folder/watch/watch-folder.js';
import type { WatchedChange } from '../../src/knowledge/folder/watch/watch-session.js';
import {
  type FolderIndex,
  type IndexFolderOptions,
  indexFolder,
  type KnowledgeBase,
  openKnowledgeBase,
} from '../../src/knowledge/index.js';
import { temporaryFolder } from '../helpers/folder.js';
import { random, testSeed } from '../helpers/random.js';

const file = temporaryFolder();
let folder = '';
let trial = 0;
/** Texts given to the embedder, in order. */
let embedded: string[] = [];
const embedder = {
  dimension: 4,
  fingerprint: 'letters, 1',
  embed: async (texts: readonly string[], { kind }: { kind: string }) => {
    if (kind === 'document') embedded.push(...texts);
    return texts.map((text) => [1, ...[...'aeo'].map((letter) => text.split(letter).length)]);
  },
};
const models = embedder as unknown as IndexFolderOptions['models'];
const waiting = { timeout: 30_000, interval: 20 };

beforeAll(() => {
  process.env.LOREKEEP_STATE = file('state');
});

beforeEach(() => {
  folder = file(`watched-${trial++}`);
  mkdirSync(folder);
  embedded = [];
});

afterEach(() => expect(new Set(embedded).size).toBe(embedded.length));

function write(path: string, text: string) {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

/** Starts a watch that the end of the test stops. */
async function watched(options: Partial<WatchFolderOptions> = {}) {
  const controller = new AbortController();
  const changes: WatchedChange[] = [];
  let running: Promise<void> | undefined;
  const first = new Promise<FolderIndex>((resolve, reject) => {
    const onChange = (change: WatchedChange) => void changes.push(change);
    const all = { folder, models, onIndex: resolve, onChange, ...options };
    running = watchFolder({ ...all, signal: controller.signal });
    running.catch(reject);
  });
  const stop = async () => {
    controller.abort();
    await running;
  };
  onTestFinished(stop);
  return { index: await first, changes, stop };
}

async function reader(config: string): Promise<KnowledgeBase> {
  const kb = await openKnowledgeBase(config, { models, readOnly: true });
  onTestFinished(() => kb.close());
  return kb;
}

/** The records of a knowledge base without their order. */
async function contentOf(kb: KnowledgeBase) {
  const records = await kb.list({ limit: 10_000 });
  return records
    .map(({ id, text, metadata }) => ({ id, text, metadata }))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
}

const idsOf = async (kb: KnowledgeBase) => (await contentOf(kb)).map(({ id }) => id);

/** The content of a fresh index of the folder. Its embeddings do not count. */
async function freshContent(options: Partial<IndexFolderOptions> = {}) {
  const before = embedded;
  embedded = [];
  const output = file(`fresh-${trial++}`);
  const { config } = await indexFolder({ folder, models, output, ...options });
  const kb = await reader(config);
  const content = await contentOf(kb);
  embedded = before;
  return content;
}

describe('watchFolder', () => {
  test('readers in other places follow created, edited, renamed and deleted files, and whole trees', async () => {
    write('a.md', 'Bees dance.');
    write('b.md', 'Ice flows.');
    const { index } = await watched();
    expect(index).toMatchObject({ files: 2, records: 2 });
    const kb = await reader(index.config);
    const becomes = (ids: string[]) => vi.waitFor(async () => expect(await idsOf(kb)).toEqual(ids), waiting);
    write('c.md', 'Tea steeps.');
    await becomes(['a.md', 'b.md', 'c.md']);
    write('a.md', 'Bees hum.');
    await vi.waitFor(async () => expect((await kb.get('a.md'))?.text).toBe('Bees hum.'), waiting);
    renameSync(join(folder, 'b.md'), join(folder, 'ice.md'));
    await becomes(['a.md', 'c.md', 'ice.md']);
    const tree = file(`tree-${trial}`);
    mkdirSync(join(tree, 'x/y'), { recursive: true });
    writeFileSync(join(tree, 'x/one.md'), 'One lamp.');
    writeFileSync(join(tree, 'x/y/two.md'), 'Two lamps.');
    renameSync(tree, join(folder, 'tree'));
    await becomes(['a.md', 'c.md', 'ice.md', 'tree/x/one.md', 'tree/x/y/two.md']);
    renameSync(join(folder, 'tree/x'), join(folder, 'moved'));
    await becomes(['a.md', 'c.md', 'ice.md', 'moved/one.md', 'moved/y/two.md']);
    write('moved/y/two.md', 'Three lamps.');
    await vi.waitFor(
      async () => expect((await kb.get('moved/y/two.md'))?.text).toBe('Three lamps.'),
      waiting,
    );
    // As editors save: a new file takes the place of the old one.
    write('.a.md.tmp', 'Bees sleep.');
    renameSync(join(folder, '.a.md.tmp'), join(folder, 'a.md'));
    await vi.waitFor(async () => expect((await kb.get('a.md'))?.text).toBe('Bees sleep.'), waiting);
    rmSync(join(folder, 'moved'), { recursive: true });
    await becomes(['a.md', 'c.md', 'ice.md']);
    rmSync(join(folder, 'c.md'));
    await becomes(['a.md', 'ice.md']);
    expect(embedded).toHaveLength(8);
  });

  test('a folder that takes the place of another one is watched, too', async () => {
    write('sub/a.md', 'Bees dance.');
    const { index } = await watched();
    const kb = await reader(index.config);
    mkdirSync(join(folder, 'next'));
    write('next/b.md', 'Ice flows.');
    renameSync(join(folder, 'sub'), join(folder, '.old'));
    renameSync(join(folder, 'next'), join(folder, 'sub'));
    await vi.waitFor(async () => expect(await idsOf(kb)).toEqual(['sub/b.md']), waiting);
    write('sub/c.md', 'Tea steeps.');
    await vi.waitFor(async () => expect(await idsOf(kb)).toEqual(['sub/b.md', 'sub/c.md']), waiting);
  });

  test('a folder that comes to the path because one above it was moved is watched, too', async () => {
    const above = folder;
    folder = join(above, 'docs');
    write('a.md', 'Bees dance.');
    const { index } = await watched();
    const kb = await reader(index.config);
    renameSync(above, `${above}-moved`);
    write('b.md', 'Ice flows.');
    await vi.waitFor(async () => expect(await idsOf(kb)).toEqual(['b.md']), waiting);
    write('c.md', 'Tea steeps.');
    await vi.waitFor(async () => expect(await idsOf(kb)).toEqual(['b.md', 'c.md']), waiting);
  });

  test('a half-written file is not read until it is whole', async () => {
    write('a.md', 'Bees dance.');
    const { index } = await watched();
    const kb = await reader(index.config);
    write('slow.md', 'one');
    for (let part = 0; part < 20; part++) {
      appendFileSync(join(folder, 'slow.md'), ` part${part}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await vi.waitFor(async () => expect((await kb.get('slow.md'))?.text).toMatch(/part19$/), waiting);
    expect(embedded.filter((text) => text.startsWith('one'))).toHaveLength(1);
  });

  test('texts that come back are not embedded again, also after the watch was restarted', async () => {
    write('a.md', 'Bees dance.');
    const first = await watched();
    const kb = await reader(first.index.config);
    write('b.md', 'Ice flows.');
    await vi.waitFor(async () => expect(await idsOf(kb)).toHaveLength(2), waiting);
    rmSync(join(folder, 'b.md'));
    rmSync(join(folder, 'a.md'));
    await vi.waitFor(async () => expect(await idsOf(kb)).toEqual([]), waiting);
    await first.stop();
    write('a.md', 'Bees dance.');
    const { index, stop } = await watched();
    const again = await reader(index.config);
    write('c/b.md', 'Ice flows.');
    await vi.waitFor(async () => expect(await idsOf(again)).toEqual(['a.md', 'c/b.md']), waiting);
    await stop();
    expect(embedded).toEqual(['Bees dance.', 'Ice flows.']);
  });

  test('an unmounted folder stays in the index, and comes back', async () => {
    write('a.md', 'Bees dance.');
    const { index, changes } = await watched();
    const kb = await reader(index.config);
    renameSync(folder, `${folder}-away`);
    await vi.waitUntil(() => changes.some(({ kind }) => kind === 'gone'), waiting);
    // The empty folder that a mount covered.
    mkdirSync(folder);
    await vi.waitUntil(() => existsSync(folder), waiting);
    expect(await idsOf(kb)).toEqual(['a.md']);
    rmSync(folder, { recursive: true });
    writeFileSync(join(`${folder}-away`, 'b.md'), 'Ice flows.');
    renameSync(`${folder}-away`, folder);
    await vi.waitUntil(() => changes.some(({ kind }) => kind === 'back'), waiting);
    await vi.waitFor(async () => expect(await idsOf(kb)).toEqual(['a.md', 'b.md']), waiting);
    write('c.md', 'Tea steeps.');
    await vi.waitFor(async () => expect(await idsOf(kb)).toEqual(['a.md', 'b.md', 'c.md']), waiting);
    expect(embedded).toEqual(['Bees dance.', 'Ice flows.', 'Tea steeps.']);
    expect(await contentOf(kb)).toEqual(await freshContent());
  });

  test('records that were added, and forgotten texts, stay so', async () => {
    write('a.md', 'Bees dance.');
    write('b.md', 'Ice flows.');
    const { config } = await indexFolder({ folder, models });
    const own = await openKnowledgeBase(config, { models });
    await own.add([{ id: 'own', text: 'Herons stand.', metadata: { path: 'a.md' } }]);
    await own.forget(['b.md']);
    await own.close();
    const { index } = await watched();
    const kb = await reader(index.config);
    expect(await idsOf(kb)).toEqual(['a.md', 'own']);
    write('b.md', 'Ice flows.');
    rmSync(join(folder, 'a.md'));
    await vi.waitFor(async () => expect(await idsOf(kb)).toEqual(['own']), waiting);
    write('b.md', 'Ice melts.');
    await vi.waitFor(async () => expect(await idsOf(kb)).toEqual(['b.md', 'own']), waiting);
  });

  test('texts that were forgotten of a folder stay out where it takes the place of a watched one', async () => {
    const moving = file(`moving-${trial++}`);
    mkdirSync(moving);
    for (const [name, text] of ['Lamps burn low.', 'Owls hoot.'].entries())
      writeFileSync(join(moving, `${name}.md`), text);
    const own = await openKnowledgeBase((await indexFolder({ folder: moving, models })).config, { models });
    await own.forget(['1.md']);
    await own.close();
    write('a.md', 'Bees dance.');
    const { index, stop } = await watched();
    const kb = await reader(index.config);
    const take = async () => {
      rmSync(folder, { recursive: true });
      renameSync(moving, folder);
    };
    await take();
    await vi.waitFor(async () => expect(await idsOf(kb)).toEqual(['0.md']), waiting);
    // Also where it does so while nobody watches.
    cpSync(folder, moving, { recursive: true });
    writeFileSync(join(moving, 'more.md'), 'Eels swim.');
    const other = await openKnowledgeBase((await indexFolder({ folder: moving, models })).config, { models });
    await other.forget(['more.md']);
    await other.close();
    await stop();
    await take();
    await watched();
    write('b.md', 'Ice flows.');
    await vi.waitFor(async () => expect(await idsOf(kb)).toEqual(['0.md', 'b.md']), waiting);
  });

  test('a watch goes on after another process has kept the lock of the records', async () => {
    write('a.md', 'Bees dance.');
    const { index, changes } = await watched();
    const kb = await reader(index.config);
    const lock = JSON.stringify(join(dirname(index.config), 'records.json.changes.lock'));
    const internal = JSON.stringify(join(import.meta.dirname, '../../dist/lib/internal.js'));
    const code = `import { lockFile } from ${internal}; globalThis.held = lockFile(${lock}); console.log(); process.stdin.resume();`;
    const holder = spawn(process.execPath, ['--input-type=module', '-e', code]);
    onTestFinished(() => void holder.kill('SIGKILL'));
    await once(holder.stdout, 'data');
    write('b.md', 'Ice flows.');
    const failed = { kind: 'failed', reason: expect.stringContaining(`process ${holder.pid} changes`) };
    await vi.waitFor(() => expect(changes).toContainEqual(failed), waiting);
    expect(await idsOf(kb)).toEqual(['a.md']);
    holder.kill();
    await vi.waitFor(async () => expect(await idsOf(kb)).toEqual(['a.md', 'b.md']), waiting);
    expect(changes.filter(({ kind }) => kind === 'failed')).toHaveLength(1);
  });

  test('a second watch is refused, and indexing leaves the folder to the watch', async () => {
    write('a.md', 'Bees dance.');
    await watched();
    await expect(watchFolder({ folder, models, signal: AbortSignal.timeout(60_000) })).rejects.toThrow(
      `the folder is watched by process ${process.pid} already`,
    );
    expect(await indexFolder({ folder, models })).toMatchObject({ records: 1, read: 0, embedded: 0 });
  });

  test('without events, changes are found by looks', async () => {
    write('a.md', 'Bees dance.');
    const { FolderEvents } = await import('../../src/knowledge/folder/watch/folder-events.js');
    vi.spyOn(FolderEvents.prototype, 'watch').mockReturnValue(false);
    onTestFinished(() => void vi.restoreAllMocks());
    const { index } = await watched({ poll: 1 });
    const kb = await reader(index.config);
    write('b.md', 'Ice flows.');
    await vi.waitFor(async () => expect(await idsOf(kb)).toEqual(['a.md', 'b.md']), waiting);
  });

  test('after random operations the records equal those of a fresh index', async () => {
    onTestFailed(() => console.log(`LOREKEEP_TEST_SEED=${testSeed}`));
    const next = random(testSeed);
    const pick = <T>(list: readonly T[]) => list[Math.floor(next() * list.length)] as T;
    const names = ['a.md', 'b.txt', 'c.html', 'd.csv', 'e.json'];
    const folders = ['', 'x', 'x/y', 'z'];
    const words = ['bee', 'ice', 'tea', 'lamp', 'eel', 'oak'];
    const place = () => join(pick(folders), pick(names));
    const isFile = (path: string) => existsSync(join(folder, path)) && statSync(join(folder, path)).isFile();
    const content = (path: string) => {
      const text = `${pick(words)} ${pick(words)} ${Math.floor(next() * 8)}`;
      if (path.endsWith('.csv')) return `title,text\n${pick(words)},${text}\n`;
      if (path.endsWith('.json')) return JSON.stringify([{ title: pick(words), text }]);
      return path.endsWith('.md') ? `# ${pick(words)}\n\n${text}.\n\n## ${pick(words)}\n\n${text}!` : text;
    };
    const operations = [
      () => {
        const path = place();
        write(path, content(path));
      },
      () => rmSync(join(folder, place()), { force: true }),
      () => {
        const [from, to] = [place(), place()];
        if (!isFile(from) || from === to) return;
        mkdirSync(dirname(join(folder, to)), { recursive: true });
        renameSync(join(folder, from), join(folder, to));
      },
      () => {
        const path = place();
        write(`${path}.tmp~`, content(path));
        renameSync(join(folder, `${path}.tmp~`), join(folder, path));
      },
      () => {
        const from = pick(folders.slice(1));
        const to = join(folder, pick(['u', 'v', 'x/w']));
        if (!existsSync(join(folder, from)) || existsSync(to) || to.startsWith(join(folder, from))) return;
        mkdirSync(dirname(to), { recursive: true });
        renameSync(join(folder, from), to);
      },
      () => rmSync(join(folder, pick(['u', 'v', 'x', 'z'])), { recursive: true, force: true }),
      () => {
        const from = join(folder, pick(folders.slice(1)));
        const to = join(folder, pick(['copy', 'z/copy']));
        if (existsSync(from) && !to.startsWith(`${from}/`)) cpSync(from, to, { recursive: true });
      },
      () => write('.gitignore', pick(['', 'x/y/\n', '*.txt\n'])),
    ];
    write('a.md', 'The first text.');
    const { index } = await watched();
    const kb = await reader(index.config);
    for (let round = 0; round < 6; round++) {
      for (let step = 0; step < 30; step++) {
        pick(operations)();
        if (next() < 0.2) await new Promise((resolve) => setTimeout(resolve, next() * 200));
      }
      write('last.md', `The end of round ${round}.`);
      const fresh = await freshContent();
      await vi.waitFor(async () => expect(await contentOf(kb)).toEqual(fresh), waiting);
    }
    expect(readdirSync(folder).length).toBeGreaterThan(0);
  });
});
