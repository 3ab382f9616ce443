import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { rename } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { VectorIndex } from '../../lib/index.js';
import { moveOver } from '../../lib/os/move-over.js';
import { temporaryFiles } from '../../lib/os/temporary-files.js';
import { temporaryFolder } from '../helpers/folder.js';

const place = temporaryFolder();

function files(name: string): { from: string; to: string } {
  mkdirSync(place(name));
  const [from, to] = [place(name, 'new'), place(name, 'file')];
  writeFileSync(from, 'new');
  writeFileSync(to, 'old');
  return { from, to };
}

const refusal = (code: string) => Object.assign(new Error(code), { code, syscall: 'rename' });

/** Renames as Windows does while `open` are open or mapped, and `held` are held by a program that does not share them. */
function windows({ open = [], held = () => [] }: { open?: string[]; held?: () => string[] }) {
  return {
    isWindows: true,
    longestHoldMs: 500,
    rename: async (from: Parameters<typeof rename>[0], to: Parameters<typeof rename>[1]) => {
      if (held().some((path) => path === from || path === to)) throw refusal('EBUSY');
      if (existsSync(to) && open.includes(String(to))) throw refusal('EPERM');
      await rename(from, to);
    },
  };
}

describe('moveOver()', () => {
  test('replaces a file that is open or mapped', async () => {
    const { from, to } = files('open');
    await moveOver(from, to, windows({ open: [to] }));
    expect(readFileSync(to, 'utf8')).toBe('new');
    expect(readdirSync(place('open'))).toEqual(['file']);
  });

  test('waits for files that another program holds for a moment', async () => {
    for (const name of ['file', 'new']) {
      const { from, to } = files(`held-${name}`);
      let refused = 0;
      const held = () => (refused++ < 7 ? [place(`held-${name}`, name)] : []);
      await moveOver(from, to, windows({ open: [to], held }));
      expect(refused).toBeGreaterThan(7);
      expect(readFileSync(to, 'utf8')).toBe('new');
      expect(readdirSync(place(`held-${name}`))).toEqual(['file']);
    }
  });

  test('leaves both files if a program holds one for long', async () => {
    const { from, to } = files('kept');
    await expect(moveOver(from, to, windows({ open: [to], held: () => [from] }))).rejects.toThrow('EBUSY');
    expect(readFileSync(to, 'utf8')).toBe('old');
    expect(readFileSync(from, 'utf8')).toBe('new');
    expect(readdirSync(place('kept')).sort()).toEqual(['file', 'new']);
  });

  test('does not move a folder aside, nor waits for one', async () => {
    const { from } = files('folder');
    mkdirSync(place('folder', 'there'));
    let asked = 0;
    const system = {
      isWindows: true,
      longestHoldMs: 500,
      rename: async () => {
        asked++;
        throw refusal('EPERM');
      },
    };
    await expect(moveOver(from, place('folder', 'there'), system)).rejects.toThrow('EPERM');
    expect(asked).toBe(1);
  });

  test('replaces a file that this process has open', async () => {
    const { from, to } = files('opened');
    const file = openSync(to, 'r');
    try {
      await moveOver(from, to);
      expect(readFileSync(to, 'utf8')).toBe('new');
      expect(readFileSync(file, 'utf8')).toBe('old');
    } finally {
      closeSync(file);
    }
  });
});

test('an index file is replaced while it is mapped, and what is left beside it is removed', async () => {
  const path = place('index.lki');
  const save = async (count: number) => {
    const vectors = Float32Array.from({ length: count * 4 }, (_, at) => Math.sin(at + count));
    const index = await VectorIndex.build(vectors, 4, { kind: 'hnsw' });
    await index.save(path);
    await index.close();
  };
  await save(10);
  const old = await VectorIndex.load(path);
  await save(20);
  const replaced = await VectorIndex.load(path);
  expect([old.size, replaced.size]).toEqual([10, 20]);
  expect((await old.search(Float32Array.of(1, 0, 0, 0), { k: 10 })).ordinals.length).toBe(10);
  await Promise.all([old.close(), replaced.close()]);
  await save(30);
  expect(await temporaryFiles(path)).toEqual([]);
  expect(readdirSync(place()).filter((name) => name.startsWith('index.lki'))).toEqual(['index.lki']);
});
