import { execFileSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type BeneathRequest, openBeneath } from '../../lib/internal.js';
import { openByNames } from '../../src/storages/open-by-names.js';
import { StorageRoot } from '../../src/storages/storage-root.js';
import { temporaryFolder } from '../helpers/folder.js';

const file = temporaryFolder();
const root = () => file('root');
const posix = process.platform !== 'win32';

/** A tree with every kind of link. What is outside is there only in half of the tests. */
function plant(outside: boolean): void {
  rmSync(file('root'), { recursive: true, force: true });
  rmSync(file('outside'), { recursive: true, force: true });
  mkdirSync(file('root/kb/deep'), { recursive: true });
  for (const name of ['kb/file', 'kb/deep/file', 'top']) writeFileSync(file('root', name), name);
  if (outside) {
    mkdirSync(file('outside/locked/folder'), { recursive: true });
    writeFileSync(file('outside/file'), 'secret');
    writeFileSync(file('outside/locked/file'), 'secret');
    linkSync(file('outside/file'), file('outside/hard'));
  }
  const links: Record<string, string> = {
    'to-file': '../outside/file',
    'to-folder': '../outside',
    'to-file-absolute': file('outside/file'),
    'to-absent': '../outside/never-there',
    'to-locked': '../outside/locked/file',
    'to-root-folder': '/',
    'to-proc': '/proc/self/environ',
    'kb/deep/up': '../../../outside/file',
    'kb/deep/near': '../file',
    'inside-absolute': file('root/kb/file'),
    'inside-back': `../${root().split('/').at(-1)}/kb/file`,
    'inside-folder': 'kb/deep',
    'inside-chain': 'inside-folder/near',
    'inside-absent': 'kb/absent',
    'loop-a': 'loop-b',
    'loop-b': 'loop-a',
    'loop-self': 'loop-self/x',
    'to-parent': '..',
    'to-parent-file': 'kb/../../outside/file',
  };
  for (const [name, target] of Object.entries(links)) symlinkSync(target, file('root', name));
  execFileSync('mkfifo', [file('root/pipe')]);
}

const long = 'x'.repeat(256);

/** What each path from the root leads to, whatever is outside. */
const paths: [path: string, reached: string][] = [
  ['kb/file', 'opened'],
  ['kb/deep/near', 'opened'],
  ['inside-absolute', 'opened'],
  ['inside-back', 'opened'],
  ['inside-folder/file', 'opened'],
  ['inside-chain', 'opened'],
  ['to-file', 'outside'],
  ['to-file-absolute', 'outside'],
  ['to-folder', 'outside'],
  ['to-folder/file', 'outside'],
  ['to-folder/absent', 'outside'],
  ['to-folder/locked/file', 'outside'],
  ['to-absent', 'outside'],
  ['to-locked', 'outside'],
  ['to-root-folder', 'outside'],
  ['to-root-folder/etc/passwd', 'outside'],
  ['to-proc', 'outside'],
  ['to-parent', 'outside'],
  ['to-parent/outside/file', 'outside'],
  ['to-parent-file', 'outside'],
  ['kb/deep/up', 'outside'],
  ['inside-folder/up', 'outside'],
  ['absent', 'absent'],
  ['kb', 'absent'],
  ['', 'absent'],
  ['kb/file/below', 'absent'],
  ['kb/absent/below', 'absent'],
  ['inside-absent', 'absent'],
  ['loop-a', 'absent'],
  ['loop-self', 'absent'],
  ['pipe', 'absent'],
  [long, 'absent'],
  [`${long}/file`, 'absent'],
];

const request = (path: string): BeneathRequest => ({
  root: root(),
  folder: '',
  path,
  wanted: 'file',
  makeFolders: true,
  closed: [],
  logs: '',
  sealed: [],
});

describe.runIf(posix).each([
  ['by descriptors', openBeneath],
  ['by names', openByNames],
] as const)('a path walked %s', (_, open) => {
  describe.each([true, false])('when what is outside exists: %s', (outside) => {
    beforeEach(() => plant(outside));

    it.each(paths)('%j: %s', async (path, reached) => {
      const found = await open(request(path));
      if (found.descriptor >= 0) {
        expect(readFileSync(found.descriptor, 'utf8')).toMatch(/file$/);
        closeSync(found.descriptor);
      }
      expect(found.reached).toBe(reached);
    });

    it('may be in a folder of the root, which it leaves no more than the root', async () => {
      const inFolder = (path: string) => open({ ...request(path), folder: 'kb' });
      const { reached, name, descriptor } = await inFolder('deep/near');
      closeSync(descriptor);
      expect([reached, name]).toEqual(['opened', 'file']);
      symlinkSync('../top', file('root/kb/to-top'));
      expect((await inFolder('to-top')).reached).toBe('outside');
      expect((await open({ ...request('file'), folder: 'to-folder' })).reached).toBe('no folder');
      expect((await open({ ...request('file'), folder: 'absent' })).reached).toBe('no folder');
    });
  });

  it('opens no closed file, whatever it is called, and makes none', async () => {
    plant(true);
    const closed = [file('root/kb/file'), file('root/kb/deep'), file('root/never-made')];
    linkSync(file('root/kb/file'), file('root/alias'));
    mkdirSync(file('root/logs'));
    writeFileSync(file('root/logs/service.1.log'), 'line');
    const reach = async (path: string, wanted: BeneathRequest['wanted'] = 'file') => {
      const { reached, descriptor } = await open({
        ...request(path),
        wanted,
        closed,
        logs: file('root/logs'),
      });
      if (descriptor >= 0) closeSync(descriptor);
      return reached;
    };
    const names = [
      'kb/file',
      'alias',
      'kb/deep/file',
      'inside-absolute',
      'inside-folder/file',
      'logs/service.1.log',
    ];
    expect(new Set(await Promise.all(names.map((name) => reach(name))))).toEqual(new Set(['closed']));
    expect(await reach('kb/deep/absent')).toBe('closed');
    expect(await reach('never-made', 'place')).toBe('closed');
    expect(await reach('alias', 'place')).toBe('closed');
    expect(await reach('kb/made', 'place')).toBe('opened');
    expect(await reach('top')).toBe('opened');
  });

  it('leads to a place for a file, whose folders are made', async () => {
    plant(true);
    const { reached, name, descriptor } = await open({ ...request('made/new/kb.bm25'), wanted: 'place' });
    if (descriptor >= 0) closeSync(descriptor);
    expect([reached, name]).toEqual(['opened', 'made/new/kb.bm25']);
    writeFileSync(file('root/made/new/kb.bm25'), 'words');
    for (const path of ['to-absent', 'to-folder/kb.bm25', 'to-folder/made/kb.bm25'])
      expect((await open({ ...request(path), wanted: 'place' })).reached).toBe('outside');
    expect((await open({ ...request('kb'), wanted: 'place' })).reached).toBe('absent');
    const unmade = { ...request('not/made/kb.bm25'), wanted: 'place', makeFolders: false } as const;
    expect((await open(unmade)).reached).toBe('absent');
    expect(existsSync(file('root/not'))).toBe(false);
  });

  it('leads to no place of a closed file, whose folder was absent, too', async () => {
    plant(true);
    for (const closed of [file('root/later/downloads.json'), file('root/later/deep/token')]) {
      const path = closed.slice(root().length + 1);
      const wanted = { ...request(path), wanted: 'place', closed: [closed] } as const;
      expect((await open(wanted)).reached, path).toBe('closed');
      const beside = await open({ ...wanted, path: `${path}.bm25` });
      if (beside.descriptor >= 0) closeSync(beside.descriptor);
      expect(beside.reached).toBe('opened');
      rmSync(file('root/later'), { recursive: true });
    }
  });
});

describe.runIf(process.platform === 'linux')('a root that holds everything', () => {
  const inDisk = new StorageRoot('/');
  const read = (path: string) => inDisk.read(path, 'string_storage', 1024, () => expect.fail('too large'));
  const absent = (path: string) => ({
    code: 3010,
    message: `string_storage: there is no file ${JSON.stringify(path)} in the storage root, where paths start`,
  });

  it.each([
    'proc/self/environ',
    'proc/1/cmdline',
    'proc/999999999/environ',
    'proc/self/root/etc/hostname',
    'sys/kernel/mm/transparent_hugepage/enabled',
    'dev/null',
    'dev/shm/absent',
    'dev/stdin',
  ])('opens nothing of the kernel: %s is as absent', async (path) => {
    await expect(read(path)).rejects.toMatchObject(absent(path));
  });

  it('opens nothing there through links either', async () => {
    const folder = temporaryPath('links');
    mkdirSync(folder, { recursive: true });
    symlinkSync('/proc/self/environ', `${folder}/environ`);
    symlinkSync('/dev', `${folder}/dev`);
    for (const path of [`${folder}/environ`, `${folder}/dev/null`, `${folder}/dev/absent`])
      await expect(read(path.slice(1))).rejects.toMatchObject(absent(path.slice(1)));
    writeFileSync(`${folder}/plain`, 'read');
    expect((await read(`${folder.slice(1)}/plain`)).toString()).toBe('read');
  });

  it.each(['/proc', '/proc/self', '/sys', '/dev', '/dev/shm'])(
    'opens nothing when it is %s',
    async (folder) => {
      const within = new StorageRoot(folder);
      const reading = within.read('version', 'string_storage', 1024, () => expect.fail('too large'));
      await expect(reading).rejects.toMatchObject({ code: 3010 });
      expect(await within.look()).toBe('closed');
    },
  );
});

const temporaryPath = (name: string) => file(name);

describe.runIf(posix)('a path that a request or a config names', () => {
  afterEach(() => rmSync(file('root'), { recursive: true, force: true }));

  const fields: [field: string, written: boolean][] = [
    ['records_file', false],
    ['index_file', false],
    ['bm25_file', true],
    ['embeddings_file', true],
  ];
  const leaving = [
    '../outside/file',
    '../outside/never-there',
    '../never-there/file',
    `${'../'.repeat(40)}etc/passwd`,
    `${'../'.repeat(3000)}etc/passwd`,
    'kb/../../outside/file',
    '../root/top',
    'kb/../../root/top',
    '/etc/passwd',
    '/never-there',
    `/${'x/'.repeat(5000)}`,
    '%2e%2e/outside/file',
    `${'%252e%252e/'.repeat(2000)}file`,
    '..\\outside\\file',
    'to-file',
    'to-absent',
    'to-locked',
    'to-folder/never-there/file',
    'to-root-folder/etc/passwd',
    'kb/deep/up',
  ];

  it.each([true, false])(
    'is 3009 whenever it leaves the root, when what is outside exists: %s',
    async (outside) => {
      plant(outside);
      const bounds = new StorageRoot(root());
      const codes = new Map<string, unknown>();
      const note = (what: string, trying: Promise<unknown>) =>
        trying.then(
          () => codes.set(what, 'opened'),
          (error) => codes.set(what, error.code),
        );
      writeFileSync(file('root/kb.json'), '{}');
      const files = await bounds.openConfig('kb.json', 'config_path');
      for (const path of leaving) {
        await note(
          `read ${path}`,
          bounds.read(path, 'string_storage', 99, () => expect.fail('too large')),
        );
        await note(`config ${path}`, bounds.openConfig(path, 'config_path'));
        for (const [field, written] of fields)
          await note(`${field} ${path}`, files.resolvePath(path, field, written));
      }
      await files.close();
      expect([...codes].filter(([, code]) => code !== 3009)).toEqual([]);
      expect(codes.size).toBe(leaving.length * (2 + fields.length));
    },
  );

  it('is 3009 by its text alone, also when there is no root', async () => {
    const gone = new StorageRoot(file('gone'));
    const read = (path: string) => gone.read(path, 'string_storage', 99, () => expect.fail('too large'));
    await expect(read('../outside/file')).rejects.toMatchObject({ code: 3009 });
    await expect(read('kb/file')).rejects.toMatchObject({ code: 3010 });
  });

  it.each([
    long,
    `kb/${long}`,
    'kb/'.repeat(3000),
    'kb/./'.repeat(2000),
    'kb/file/below',
    'loop-a',
    'kb/absent/x',
  ])('is 3010 when it stays inside and leads nowhere: %.40s', async (path) => {
    plant(true);
    const bounds = new StorageRoot(root());
    const reading = bounds.read(path, 'string_storage', 99, () => expect.fail('too large'));
    await expect(reading).rejects.toMatchObject({ code: 3010 });
    await expect(bounds.openConfig(path, 'config_path')).rejects.toMatchObject({ code: 3010 });
  });

  it('may be in an absent folder when it is to be written, which is made unless storages are read only', async () => {
    plant(true);
    writeFileSync(file('root/kb.json'), '{}');
    for (const readOnly of [true, false]) {
      const files = await new StorageRoot(root(), { readOnly }).openConfig('kb.json', 'config_path');
      const words = await files.resolvePath('new/folder/kb.bm25', 'bm25_file', true);
      expect(existsSync(file('root/new/folder'))).toBe(!readOnly);
      expect(existsSync(words)).toBe(false);
      expect(files.pathOf(words)).toBe(file('root/new/folder/kb.bm25'));
      await expect(files.resolvePath('to-folder/kb.bm25', 'bm25_file', true)).rejects.toMatchObject({
        code: 3009,
      });
      await files.close();
    }
  });

  it('starts at the config file in whose folder it is, and may go up as far as the root', async () => {
    plant(true);
    writeFileSync(file('root/kb/deep/kb.json'), '{}');
    const files = await new StorageRoot(root()).openConfig('inside-folder/kb.json', 'config_path');
    const records = await files.resolvePath('../../top', 'records_file', false);
    expect(readFileSync(records, 'utf8')).toBe('top');
    await expect(files.resolvePath('../../../root/top', 'records_file', false)).rejects.toMatchObject({
      code: 3009,
    });
    await files.close();
  });
});
