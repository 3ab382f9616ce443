import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { StorageRoot } from '../../src/storages/storage-root.js';
import { temporaryFolder } from '../helpers/folder.js';

const file = temporaryFolder();
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

describe.runIf(linux)('files of a storage root', () => {
  it.each(['kb/records.json', 'kb'])(
    'are those that were checked, also when %s leads elsewhere afterwards',
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
    const contents = new Set<string>();
    let refusals = 0;
    let turns = 0;
    const flipping = setInterval(() => {
      if (turns++ % 2 === 0) divert(path);
      else restore(path);
    }, 0);
    try {
      for (let attempt = 0; attempt < 400; attempt++) {
        await root
          .read('kb/kb.json', 'string_storage', 100, () => expect.fail('too large'))
          .then(
            (content) => contents.add(content.toString()),
            (error) => {
              expect([3009, 3010]).toContain(error.code);
              refusals++;
            },
          );
      }
    } finally {
      clearInterval(flipping);
    }
    expect([...contents]).toEqual(['root']);
    expect(refusals).toBeGreaterThan(0);
  });
});

describe('a storage root', () => {
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
