import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { makeFolder } from '../../lib/os/make-folder.js';
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
      expect(files.shown(`${records}:1 and ${sidecar}`)).toBe(
        `${file('root/kb/records.json')}:1 and ${file('root/kb/kb.bm25')}`,
      );
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
        expect(files.shown(`${words} in ${dirname(words)}`)).toBe(
          `${file('root/sealed/new/kb.bm25')} in ${file('root/sealed/new')}`,
        );
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
  it('is taken out of messages', async () => {
    const message = `${file('root/kb/kb.json')}: a comma/colon is expected`;
    expect(await root.hide(message)).toMatchObject({ message: 'kb/kb.json: a comma/colon is expected' });
  });

  it.each([
    ['/', '/srv/kb/kb.json:1: 3/4 or "/a/b"', 'srv/kb/kb.json:1: 3/4 or "/a/b"'],
    ['/srv', '/srv/kb/kb.json: see /srv/kb/x', 'kb/kb.json: see kb/x'],
    ['/srv/my kb', '/srv/my kb/kb.json: a, b', 'kb.json: a, b'],
    ['/srv', '/my data/a, b (c)/kb.json: 3, /my data/a, b (c)/kb.json', 'kb.json: 3, kb.json'],
    ['/', '/my data/a, b (c)/kb.json: 3', 'my data/a, b (c)/kb.json: 3'],
    ['/srv', "cannot be read: open '/data/other/kb.json'", "cannot be read: open 'kb.json'"],
  ])('below %s hides what is above it: %s', async (folder, message, hidden) => {
    const facts = { file: message.split(':')[0], id: '/a/b', line: 3 };
    const found = await new StorageRoot(folder).hide(message, facts);
    expect(found.message).toBe(hidden);
    expect(found.facts).toMatchObject({ id: '/a/b', line: 3, file: hidden.split(':')[0] });
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
