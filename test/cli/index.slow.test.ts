import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { placeOf } from '../../src/cli/ask/place.js';
import { temporaryFolder } from '../helpers/folder.js';
import type { CommandOptions } from './command.js';
import { commandHost } from './commands.js';

const inFolder = temporaryFolder();
const lorekeep = commandHost();
const cwd = inFolder('work');
const env = { LOREKEEP_STATE: '', XDG_DATA_HOME: inFolder('data'), HOME: inFolder('home') };
const run = (args: readonly string[], options: CommandOptions = {}) =>
  lorekeep(args, { cwd, ...options, env: { ...env, ...options.env } });

function write(path: string, text: string | Buffer) {
  mkdirSync(join(cwd, path, '..'), { recursive: true });
  writeFileSync(join(cwd, path), text);
}

beforeAll(() => {
  mkdirSync(env.HOME);
  write('docs/bees.md', '# Bees\n\n## Dances\n\nA bee that has found nectar dances in the hive.');
  write('docs/ice.md', '# Ice\n\nGlaciers grind valleys into the shape of a U.');
  write('docs/broken.md', Buffer.from([0, 1, 2]));
  write('notes/tea.txt', 'Green tea is steeped at eighty degrees.');
});

const model = ['--model', 'lorekeep-mini'];

describe('the life of an index', () => {
  const place = (name: string) => {
    const [found] = readdirSync(join(env.XDG_DATA_HOME, 'lorekeep/folders')).filter((one) =>
      one.startsWith(`${name}-`),
    );
    return join(env.XDG_DATA_HOME, 'lorekeep/folders', found as string);
  };

  it('takes the folder after a list of patterns, and says which kinds are left out', async () => {
    write('life/a.md', 'Eels swim to the sea.');
    write('life/b.xyz', 'x');
    expect((await run(['index', '--include', '*.md', 'life', ...model])).stdout).toContain(
      'life: 1 record of 1 file',
    );
    const { stderr } = await run(['index', 'life', ...model]);
    expect(stderr).toContain('left out: 1 file of other kinds: 1 .xyz');
    expect(stderr).toContain('--include "*.xyz"');
  });

  it('a search says how far the first run is, and that a folder is empty or gone', async () => {
    const facts = join(place('life'), 'folder.json');
    const whole = JSON.parse(readFileSync(facts, 'utf8'));
    const index = readFileSync(join(place('life'), 'kb.index'));
    rmSync(join(place('life'), 'kb.index'));
    const progress = { phase: 'embed', done: 5, total: 10 };
    writeFileSync(facts, JSON.stringify({ ...whole, built: null, records: 10, progress }));
    expect((await run(['search', 'life', 'eels'])).stderr).toContain('50 % of 10 records');
    writeFileSync(facts, JSON.stringify(whole));
    writeFileSync(join(place('life'), 'kb.index'), index);
    expect((await run(['search', 'life', 'eels', '--json'])).stdout).toContain('swim');
    rmSync(join(cwd, 'life/a.md'));
    expect((await run(['index', 'life', ...model])).stdout).toContain('has no text any more');
    const { status, stderr } = await run(['search', 'life', 'eels']);
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: expect.stringContaining('it has nothing to find'),
    });
    // Its config says so, too: no build would mend it.
    const opened = await run(['search', join(place('life'), 'kb.json'), 'eels']);
    expect(opened.status).toBe(1);
    expect(opened.stderr).toContain('had no text to index at the last run');
    expect(opened.stderr).not.toContain('build it');
    rmSync(place('life'), { recursive: true });
  });
});

describe('lorekeep index', () => {
  it('needs no config, lists what it left out, and is found by a search in the same folder', async () => {
    const none = await run(['search', 'bees']);
    expect(none.status).toBe(1);
    expect(none.stderr).toContain(
      'there is no kb.json here, and no index of this folder; run: lorekeep index FOLDER',
    );
    const { status, stdout, stderr } = await run(['index', './docs', ...model]);
    // A slow machine prints progress first.
    const leftOut = 'not indexed: 1 file, or parts of them\n  broken.md: is a binary file, not text\n';
    expect({ status, stderr }).toEqual({
      status: 0,
      stderr: expect.toSatisfy((text) => text.endsWith(leftOut)),
    });
    expect(stdout).toMatch(/^\.\/docs: 2 records of 2 files in .* \(3 files read, 2 texts embedded\)\n/);
    expect(stdout).toContain(join(env.XDG_DATA_HOME, 'lorekeep', 'folders', 'docs-'));
    expect(readdirSync(join(cwd, 'docs')).sort()).toEqual(['bees.md', 'broken.md', 'ice.md']);
    const found = await run(['search', 'where does the bee dance?', '--top-k', '1', '--json']);
    const { hits } = JSON.parse(found.stdout);
    expect(hits).toMatchObject([
      { id: 'bees.md#dances', metadata: { path: 'bees.md', title: 'Bees', heading: 'Dances' } },
    ]);
  });

  it('is found from the folder and by its name; of several the latest is searched, and the others are named', async () => {
    expect((await run(['index', 'notes', ...model, '--json'])).status).toBe(0);
    const id = async (args: readonly string[], at = cwd) => {
      const { stdout, stderr } = await run(['search', ...args, '--top-k', '1', '--json'], { cwd: at });
      return { id: JSON.parse(stdout).hits[0].id, stderr };
    };
    expect(await id(['tea'])).toEqual({
      id: 'tea.txt',
      stderr: 'lorekeep: searching notes, the latest index; name a folder to search another one: docs\n',
    });
    expect(await id(['docs', 'tea'])).toMatchObject({ stderr: '' });
    expect((await id(['docs', 'ice'])).id).toBe('ice.md#ice');
    expect((await id(['ice'], join(cwd, 'docs'))).id).toBe('ice.md#ice');
    const unknown = await run(['search', '..', 'ice']);
    expect(unknown.stderr).toContain('..: is a folder that is not indexed; run: lorekeep index ..');
  });

  it('makes what ask and chat open by the name of the folder', async () => {
    process.env.LOREKEEP_STATE = join(env.XDG_DATA_HOME, 'lorekeep');
    const place = await placeOf(join(cwd, 'docs'), '127.0.0.1');
    expect(place).toMatchObject({ path: 'kb.json' });
    expect(place.folder).toContain(join(env.XDG_DATA_HOME, 'lorekeep', 'folders', 'docs-'));
  });

  it('names the flag that is wrong', async () => {
    for (const [args, message] of [
      [['--mapping', '{"fields": {"a": "b"}}'], /--mapping\.fields\.a: one of string/],
      [['--mapping', '[]'], /--mapping: an object/],
      [['--include', ''], /--include\[0\]: the pattern is blank/],
      [['--chunk-size', '3'], /chunk-size.*an integer from 200/],
      [['--model', 'none'], /none/],
    ] as const) {
      const { status, stderr } = await run(['index', 'docs', ...args]);
      expect(stderr).toMatch(message);
      expect(status).toBe(args[0] === '--model' ? 1 : 2);
    }
    expect((await run(['index', 'absent'])).stderr).toMatch(/absent: the folder does not exist/);
    expect(await run(['index', 'my', 'docs'])).toMatchObject({
      status: 2,
      stderr:
        'lorekeep: one folder is expected; put quotes around a name with spaces: lorekeep index "my docs"\n',
    });
  });
});

describe('lorekeep search', () => {
  it('says how to write what it could not tell apart', async () => {
    const quotes = await run(['search', 'docs', 'who', 'dances']);
    expect(quotes).toMatchObject({
      status: 2,
      stderr: 'lorekeep: put quotes around the text: lorekeep search docs "who dances"\n',
    });
    expect((await run(['search', 'who', 'dances', 'here'])).stderr).toContain(
      'lorekeep search "who dances here"',
    );
    expect(await run(['search', 'nothing', 'here'])).toMatchObject({
      status: 1,
      stderr:
        'lorekeep: nothing: the file does not exist; if it is a word of the text, put quotes around the text: lorekeep search "nothing here"\n',
    });
    expect((await run(['search', 'no/kb.json', 'here'])).stderr).not.toContain('quotes');
    write('some.json', '{}');
    expect((await run(['search', 'some.json'])).stderr).toContain('the text to look for is missing');
  });

  it('takes kb.json and server-config.json of the current folder', async () => {
    const here = inFolder('here');
    expect((await run(['init', here])).status).toBe(0);
    expect((await run(['build', 'knowledge/harbour/kb.json'], { cwd: here })).status).toBe(0);
    const harbour = join(here, 'knowledge/harbour');
    cpSync(join(here, 'server-config.json'), join(harbour, 'server-config.json'));
    writeFileSync(
      join(harbour, 'server-config.json'),
      JSON.stringify({ models_catalog_path: '../../models.json', port: 9123 }),
    );
    const { stdout } = await run(['search', 'who lights the lamp?', '--json'], { cwd: harbour });
    expect(JSON.parse(stdout).hits[0].id).toBe('lighthouse/keeper');
    const doctor = await run(['doctor', '--json'], { cwd: harbour });
    expect(doctor.stdout).toContain('9123');
  });

  it('serve takes the config of the current folder, and says where it writes: in a folder of init, only there', async () => {
    const here = inFolder('served');
    expect((await run(['init', here])).status).toBe(0);
    const { status, stdout } = await run(['serve', '--port', '0'], {
      cwd: here,
      onOutput: (printed, child) => {
        if (printed.includes('"listening"')) child.kill('SIGTERM');
      },
    });
    expect(status).toBe(0);
    const line = stdout
      .split('\n')
      .find((each) => each.includes('folders that the server writes to')) as string;
    const { logs, models, storages } = JSON.parse(line);
    expect({ logs, models, storages }).toEqual({
      logs: join(here, 'logs'),
      models: join(here, 'models'),
      storages: join(here, 'knowledge'),
    });
  });
});

describe('lorekeep index --watch', () => {
  it('follows changes until Ctrl-C, and refuses --poll without it', async () => {
    write('seen/a.md', 'Bees dance.');
    expect((await run(['index', 'seen', '--poll', '3'])).stderr).toContain(
      '--poll: it has no effect without --watch',
    );
    let step = 0;
    const { status, stdout } = await run(['index', 'seen', '--watch', '--json', ...model], {
      onOutput: (printed, child) => {
        if (step === 0 && printed.includes('"indexed"')) write(`seen/b${step++}.md`, 'Ice flows.');
        if (step === 1 && printed.includes('"applied"')) {
          step++;
          child.kill('SIGINT');
        }
      },
    });
    expect(status).toBe(0);
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines).toMatchObject([
      { kind: 'indexed', records: 1 },
      { kind: 'applied', read: 1, added: 1, size: 2, version: 1 },
    ]);
  });
});
