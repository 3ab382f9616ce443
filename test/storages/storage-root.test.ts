import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { LorekeepError } from '../../lib/index.js';
import { makeFolder } from '../../lib/os/make-folder.js';
import { forClient } from '../../src/storages/client-error.js';
import { StorageRoot } from '../../src/storages/storage-root.js';
import { temporaryFolder } from '../helpers/folder.js';

const file = temporaryFolder();
// Others than its owner may look into it: some tests run as another user.
chmodSync(file(), 0o755);
const linux = process.platform === 'linux';
let root: StorageRoot;

/** root/kb/kb.json inside; outside/kb.json with the same names, but other content. */
beforeEach(() => {
  for (const place of ['root', 'outside']) {
    rmSync(file(place), { recursive: true, force: true });
    mkdirSync(file(`${place}/kb`), { recursive: true });
    writeFileSync(file(`${place}/kb/kb.json`), place);
    writeFileSync(file(`${place}/kb/records.json`), place);
  }
  root = new StorageRoot(file('root'));
});

const refused = { name: 'StorageOutsideRoot', code: 3009 };

/** Puts a link to the outside where a file or folder of the root was. */
function divert(path: string): void {
  renameSync(file(`root/${path}`), file(`root/${path}.aside`));
  symlinkSync(file(`outside/${path}`), file(`root/${path}`));
}

function restore(path: string): void {
  rmSync(file(`root/${path}`));
  renameSync(file(`root/${path}.aside`), file(`root/${path}`));
}

/** Reads many times while `path` leads elsewhere every other turn of the event loop: what was read, and what was refused. */
async function readWhileDiverting(path: string, read: () => Promise<string[]>) {
  const contents = new Set<string>();
  const codes = new Set<unknown>();
  let turns = 0;
  const flipping = setInterval(() => {
    if (turns++ % 2 === 0) divert(path);
    else restore(path);
  }, 0);
  try {
    for (let attempt = 0; attempt < 400; attempt++) {
      try {
        for (const text of await read()) contents.add(text);
      } catch (error) {
        codes.add((error as { code?: number }).code);
      }
    }
  } finally {
    clearInterval(flipping);
  }
  return { contents: [...contents], codes: [...codes] };
}

describe.runIf(linux)('files of a storage root', () => {
  it.each(['kb/records.json', 'kb'])(
    'are the checked ones, also when %s leads elsewhere afterwards',
    async (path) => {
      const files = await root.openConfig('kb/kb.json', 'config_path');
      const records = await files.resolvePath('records.json', 'records_file', false);
      const sidecar = await files.resolvePath('kb.bm25', 'bm25_file', true);
      divert(path);
      expect([readFileSync(files.config, 'utf8'), readFileSync(records, 'utf8')]).toEqual(['root', 'root']);
      writeFileSync(sidecar, 'words');
      expect(() => readFileSync(file('outside/kb/kb.bm25'))).toThrow('ENOENT');
      expect([records, sidecar].map(files.pathOf)).toEqual([
        file('root/kb/records.json'),
        file('root/kb/kb.bm25'),
      ]);
      await files.close();
    },
  );

  it.each(['kb/kb.json', 'kb'])('never come from outside while %s changes under the check', async (path) => {
    const { contents, codes } = await readWhileDiverting(path, async () => {
      const content = await root.read('kb/kb.json', 'string_storage', 100, () => expect.fail('too large'));
      return [content.toString()];
    });
    expect(contents).toEqual(['root']);
    expect(codes.length).toBeGreaterThan(0);
    expect([3009, 3010]).toEqual(expect.arrayContaining(codes));
  });
});

describe.runIf(linux)('a config and what it names', () => {
  it.each(['kb/records.json', 'kb'])(
    'never come from outside while %s changes under the check',
    async (path) => {
      const { contents, codes } = await readWhileDiverting(path, async () => {
        const files = await root.openConfig('kb/kb.json', 'config_path');
        try {
          const records = await files.resolvePath('records.json', 'records_file', false);
          return [readFileSync(files.config, 'utf8'), readFileSync(records, 'utf8')];
        } finally {
          await files.close();
        }
      });
      expect(contents).toEqual(['root']);
      expect(codes.length).toBeGreaterThan(0);
      expect([3009, 3010, 8003]).toEqual(expect.arrayContaining(codes));
    },
  );

  it('are no pipes, which nobody may ever write to', async () => {
    execFileSync('mkfifo', [file('root/kb/pipe.json')]);
    const pipe = root.openConfig('kb/pipe.json', 'config_path');
    await expect(pipe).rejects.toMatchObject({ code: 3010, details: { path: 'config_path' } });
    const files = await root.openConfig('kb/kb.json', 'config_path');
    await expect(files.resolvePath('pipe.json', 'records_file', false)).rejects.toMatchObject({
      code: 8003,
      details: { path: 'config_path', file: 'kb/kb.json', field: 'records_file' },
    });
    await files.close();
  });

  it.skipIf(process.platform === 'win32')(
    'are written nowhere when their folder is absent and cannot be made',
    async () => {
      mkdirSync(file('root/sealed'));
      chmodSync(file('root/sealed'), 0o555);
      await asNobody(async () => {
        const files = await root.openConfig('kb/kb.json', 'config_path');
        const words = await files.resolvePath('../sealed/new/kb.bm25', 'bm25_file', true);
        expect([words, dirname(words)].map(files.pathOf)).toEqual([
          file('root/sealed/new/kb.bm25'),
          file('root/sealed/new'),
        ]);
        expect(() => makeFolder(dirname(words))).toThrow('mkdir');
        await files.close();
      });
    },
  );

  it('are refused with the field when the server may not read what it names', async () => {
    chmodSync(file('root/kb/records.json'), 0);
    await asNobody(async () => {
      const files = await root.openConfig('kb/kb.json', 'config_path');
      await expect(files.resolvePath('records.json', 'records_file', false)).rejects.toMatchObject({
        code: 8003,
        message: 'config_path: "kb/kb.json": records_file: the server may not read "records.json"',
        details: { path: 'config_path', file: 'kb/kb.json', field: 'records_file' },
      });
      await files.close();
      await expect(readList('kb/records.json')).rejects.toMatchObject(unreadableList);
    });
  });

  it('are refused with the field when the server may not look into their folder', async () => {
    chmodSync(file('root/kb'), 0);
    try {
      await asNobody(async () => {
        const details = { path: 'config_path' };
        const opening = root.openConfig('kb/kb.json', 'config_path');
        await expect(opening).rejects.toMatchObject({ code: 8003, details });
        await expect(readList('kb/kb.json')).rejects.toMatchObject(unreadableList);
      });
    } finally {
      chmodSync(file('root/kb'), 0o755);
    }
  });
});

const unreadableList = { code: 4010, details: { path: 'string_storage' } };

const readList = (path: string) => root.read(path, 'string_storage', 9, () => expect.fail('too large'));

/** Runs as a user to whom permissions apply, as they do not to root. */
async function asNobody(run: () => Promise<void>): Promise<void> {
  if (process.getuid?.() !== 0) return run();
  process.seteuid?.(65534);
  try {
    await run();
  } finally {
    process.seteuid?.(0);
  }
}

describe('a storage root', () => {
  it.each([
    ['/', '/srv/kb/kb.json', 'srv/kb/kb.json'],
    ['/srv', '/srv/kb/kb.json', 'kb/kb.json'],
    ['/srv/my kb', '/srv/my kb/kb.json', 'kb.json'],
    ['/srv', '/my data/a, b (c)/kb.json', 'kb.json'],
    ['/', '/my data/a, b (c)/kb.json', 'my data/a, b (c)/kb.json'],
  ])('below %s shows clients %s as %s', async (folder, path, shown) => {
    const facts = { file: path, folder: path, id: '/a/b', line: 3, reason: 'expected 3/4, found "/a/b"' };
    const error = LorekeepError.about('CORRUPT', { ...facts, remedy: `run lorekeep build ${path}` });
    expect(forClient(error, await new StorageRoot(folder).shownPath())).toEqual({
      message: `${shown}:3: expected 3/4, found "/a/b"; build it again on the server: its log has the command`,
      details: { file: shown, folder: shown, id: '/a/b', line: 3 },
    });
  });

  it('gives an error about a file without a reason no words of the system', async () => {
    const error = new LorekeepError('IO', '/srv/kb.json: cannot open /srv/x', { file: '/srv/kb.json' });
    expect(forClient(error, await root.shownPath()).message).toBe(
      "kb.json: cannot be used; the server's log says why",
    );
  });

  it('reads a file, and tells when it is too large', async () => {
    const tooLarge = (bytes: number): never => {
      throw new Error(`${bytes} bytes`);
    };
    expect((await root.read('kb/kb.json', 'string_storage', 4, tooLarge)).toString()).toBe('root');
    await expect(root.read('kb/kb.json', 'string_storage', 3, tooLarge)).rejects.toThrow('4 bytes');
    await expect(root.read('../outside/kb/kb.json', 'string_storage', 9, tooLarge)).rejects.toMatchObject(
      refused,
    );
    await expect(root.read('kb', 'string_storage', 9, tooLarge)).rejects.toMatchObject({ code: 3010 });
  });
});
