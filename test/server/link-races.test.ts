import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../helpers/folder.js';
import { TestServer } from './test-server.js';

const file = temporaryFolder();
const kb = { embedding_model: 'tiny', records_file: 'records.json', bm25_file: 'kb.bm25' };
const attempts = 60;

function plant(place: string): void {
  mkdirSync(file(`${place}/kb`), { recursive: true });
  writeFileSync(file(`${place}/kb/kb.json`), JSON.stringify(kb));
  writeFileSync(
    file(`${place}/kb/records.json`),
    JSON.stringify([{ id: place, text: `Bees of the ${place}.` }]),
  );
  writeFileSync(file(`${place}/kb/list.txt`), `From the ${place}.\n`);
}

beforeAll(() => {
  plant('inside');
  plant('outside');
});

/** Numbers from 0 to below `bound`; the seed is printed when the test fails. */
function dice(seed: number): (bound: number) => number {
  let state = seed >>> 0 || 1;
  return (bound) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % bound;
  };
}

const seed = Number(process.env.LOREKEEP_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31));

/** Swaps a file or a folder of the root for a link to the outside and back, at every other turn of the event loop. */
function swapping(roll: (bound: number) => number): () => void {
  const names = ['kb', 'kb/kb.json', 'kb/records.json', 'kb/list.txt', 'kb/kb.bm25'];
  let undo: (() => void) | undefined;
  const swap = () => {
    if (undo !== undefined) {
      undo();
      undo = undefined;
      return;
    }
    const name = names[roll(names.length)] as string;
    const [own, aside] = [file('inside', name), file('inside', `${name}.aside`)];
    try {
      renameSync(own, aside);
    } catch {
      return; // not made yet
    }
    symlinkSync(
      roll(2) === 0 ? file('outside', name) : `${'../'.repeat(name.split('/').length)}outside/${name}`,
      own,
    );
    undo = () => {
      rmSync(own);
      renameSync(aside, own);
    };
  };
  const timer = setInterval(swap, 0);
  return () => {
    clearInterval(timer);
    undo?.();
    undo = undefined;
  };
}

describe.runIf(process.platform !== 'win32')('links that are swapped while requests run', () => {
  it(`never lead outside, and never write there (seed ${seed})`, async () => {
    const roll = dice(seed);
    const server = await TestServer.start({
      config: { storage_root: file('inside'), session_folders: 'storage_root', storage_cache_max_mb: 0 },
    });
    const client = await server.connect();
    const stop = swapping(roll);
    onTestFinished(stop);
    const found = new Set<string>();
    const codes = new Set<unknown>();
    for (let attempt = 0; attempt < attempts; attempt++) {
      const session = await client
        .createSession({ storageDataFolder: ['', 'kb'][roll(2)] })
        .catch((error) => {
          codes.add(error.code);
        });
      if (session === undefined) continue;
      const bases = ['', 'kb/', './kb/'];
      const base = bases[roll(bases.length)];
      const tries = [
        session
          .search({ name: `${base}kb.json`, text: 'bees' })
          .then(({ hits }) => hits.map(({ text }) => text)),
        session
          .createAgent({
            graph: {
              nodes: [{ id: 'n', type: 'canned_response', params: { string_storage: `${base}list.txt` } }],
            },
          })
          .then((agent) => agent.turn('hello'))
          .then(({ text }) => [text]),
      ];
      for (const outcome of await Promise.allSettled(tries)) {
        if (outcome.status === 'rejected') codes.add(outcome.reason.code);
        else for (const text of outcome.value) found.add(text);
      }
      await session.destroy();
    }
    stop();
    expect([...found].filter((text) => text.includes('outside'))).toEqual([]);
    expect(found.size).toBeGreaterThan(0);
    expect([3009, 3010, 3011, 8003, 4010]).toEqual(expect.arrayContaining([...codes]));
    expect(() => renameSync(file('outside/kb/kb.bm25'), file('moved'))).toThrow('ENOENT');
  });
});
