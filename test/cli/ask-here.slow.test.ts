import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../helpers/folder.js';
import type { CommandOptions } from './command.js';
import { commandHost } from './commands.js';

const inFolder = temporaryFolder();
const lorekeep = commandHost();
const models = process.env.LOREKEEP_MODELS ?? join(import.meta.dirname, '../../../shared/models');
const talker = join(models, 'SmolLM2-135M-Instruct.Q4_1.gguf');
const embedder = join(import.meta.dirname, '../../data/models/all-MiniLM-L6-v2.gguf');
if (!existsSync(talker)) console.log(`replies of a language model are not tested: there is no ${talker}`);

const service = 'Anna Holm services the telescope in Gozo every five weeks.';

beforeAll(() => {
  mkdirSync(inFolder('docs'));
  mkdirSync(inFolder('notes'));
  const gozo = `# The Gozo telescope\n\nIt stands on a hill.\n\n## Service\n\n${service} Visitors come on Fridays.\n`;
  writeFileSync(inFolder('docs', 'gozo.md'), gozo);
  writeFileSync(inFolder('notes', 'carla.md'), 'Carla Moretti services the telescope in Malta.\n');
});

/** Runs in the folder, with the indexes of this test. */
const running = (args: string[], options: CommandOptions = {}) =>
  lorekeep(args, { cwd: inFolder(), env: { LOREKEEP_STATE: inFolder('state') }, ...options });

/** What else a command said than that the embedding model takes long, on a busy machine. */
const withoutNote = (stderr: string) => stderr.replaceAll('lorekeep: loading the embedding model\n', '');

describe('lorekeep ask, of folders', () => {
  it('indexes what has changed and quotes sentences with their places, without a server', async () => {
    const question = 'who services the telescope?';
    const first = await running(['ask', './docs', 'notes', question]);
    expect(first.status, first.stderr).toBe(0);
    expect(first.stderr).toContain('./docs: 2 records (1 file read, 2 texts embedded)');
    expect(first.stdout.split('\n')).toEqual(
      expect.arrayContaining([
        service,
        '  docs/gozo.md > Service',
        'Carla Moretti services the telescope in Malta.',
        '  notes/carla.md',
      ]),
    );
    const again = await running(['ask', './docs', 'notes', question]);
    expect(again).toMatchObject({ status: 0, stdout: first.stdout });
    expect(withoutNote(again.stderr)).toBe('');
    writeFileSync(inFolder('notes', 'new.md'), 'Edith Sand services the telescope in Comino.\n');
    const more = await running(['ask', 'notes', question]);
    expect(more.stderr).toContain('notes: 2 records (1 file read, 1 text embedded)');
    expect(more.stdout).toContain('Edith Sand services the telescope in Comino.\n  notes/new.md\n');
    rmSync(inFolder('notes', 'new.md'));
    const less = await running(['ask', 'notes', question]);
    expect(less.stderr).toContain('notes: 1 record (1 removed)');
    expect(less.stdout).not.toContain('Edith');
  });

  it('says of a name that is nothing here that neither a file nor a server has it', async () => {
    mkdirSync(inFolder('alone'));
    // No server listens at the lowest port.
    writeFileSync(inFolder('alone', 'server-config.json'), '{"port": 1}');
    writeFileSync(inFolder('alone', 'notes.md'), service);
    const asked = (place: string) =>
      running(['ask', place, 'who services the telescope?', '--json'], { cwd: inFolder('alone') });
    for (const place of ['docs', 'kb.json', 'who services it?']) {
      const refused = await asked(place);
      expect(refused.status).toBe(1);
      expect(JSON.parse(refused.stdout).error).toEqual({
        code: 'NOT_FOUND',
        message: `${place}: there is no folder or file of that name here, and no server at 127.0.0.1:1; name a folder or a knowledge base that exists, or start the server that has it: lorekeep serve`,
      });
    }
    expect((await asked('notes.md')).stderr).toContain(
      'notes.md: is neither a folder nor a knowledge base (a .json file), and no server at 127.0.0.1:1; ',
    );
  });

  it('indexes as the last run of index did', async () => {
    mkdirSync(inFolder('mixed'));
    writeFileSync(inFolder('mixed', 'a.md'), 'The lamp is green.\n');
    writeFileSync(inFolder('mixed', 'b.txt'), 'The lamp is red.\n');
    await running(['index', 'mixed', '--include', '*.md']);
    const { stdout, stderr } = await running(['ask', 'mixed', 'is the lamp green?']);
    expect(stdout, stderr).toBe('The lamp is green.\n  mixed/a.md\n');
  });

  it('prints JSON with the sources, a line per question of stdin', async () => {
    const stdin = 'who services the telescope?\nquantum chromodynamics\n';
    const { stdout, stderr } = await running(['ask', 'docs', '--json'], { stdin });
    const [answered, unanswered] = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(answered, stderr).toMatchObject({
      status: 'completed',
      text: service,
      folders: { kb: 'docs' },
      sources: [
        {
          storage: 'kb',
          cited: true,
          sentence: { text: service },
          metadata: { path: 'gozo.md', heading: 'Service', title: 'The Gozo telescope' },
        },
      ],
    });
    expect(unanswered).toMatchObject({ status: 'completed', text: '' });
    expect(unanswered.sources).toBeUndefined();
  });

  it('shows the nearest records, and says so, where no sentence answers', async () => {
    const { status, stdout, stderr } = await running(['ask', 'docs', 'quantum chromodynamics']);
    expect(status).toBe(0);
    expect(withoutNote(stderr)).toBe('lorekeep: no sentence answers this; the nearest records:\n');
    expect(stdout).toContain('gozo.md#service');
  });

  it('answers from a kb.json here, and passes search flags on', async () => {
    const index = readdirSync(inFolder('state', 'folders')).find((name) => name.startsWith('docs-'));
    const config = inFolder('state', 'folders', index as string, 'kb.json');
    const { stdout, stderr } = await running(['ask', config, 'docs', 'who services it?', '--top-k', '1']);
    expect(stdout, stderr).toContain(service);
    const none = { '==': [{ knowledge: 'path' }, 'other.md'] };
    const filtered = await running(['ask', 'docs', 'who services it?', '--filter', JSON.stringify(none)]);
    expect(filtered).toMatchObject({ status: 0, stdout: '', stderr: expect.stringContaining('no hits') });
  });

  it.skipIf(!existsSync(talker))(
    'lets the language model of a file answer, above its sources',
    async () => {
      const args = ['who services the telescope?', '--model', talker];
      const { status, stdout, stderr } = await running(['ask', 'docs', ...args]);
      expect(status, stderr).toBe(0);
      expect(stdout).toMatch(/\nsources.*:\n {2}\[1\] docs\/gozo\.md/);
      expect(stdout).toContain(`"${service}"`);
    },
    120_000,
  );

  it('refuses words that are lost, and flags without effect, with the right command', async () => {
    const otherFile = 'is neither a folder nor a knowledge base (a .json file)';
    mkdirSync(inFolder('sub'));
    writeFileSync(inFolder('sub', 'bad.json'), '{"a":');
    writeFileSync(inFolder('sub', 'other.json'), '{"name": "other"}');
    writeFileSync(inFolder('sub', 'list.json'), '[]');
    const cases: [string[], number, string][] = [
      [
        ['docs', 'who', 'services', 'it?'],
        2,
        'put quotes around the text: lorekeep ask docs "who services it?"',
      ],
      [['./nowhere', 'x'], 1, './nowhere: there is no such folder or knowledge base (a .json file)'],
      [['docs', './nowhere', 'x'], 1, './nowhere: there is no such folder or knowledge base'],
      [['./docs/gozo.md', 'x'], 1, `./docs/gozo.md: ${otherFile}`],
      [['docs', './docs/gozo.md', 'x'], 1, `./docs/gozo.md: ${otherFile}`],
      [['docs', 'docs/gozo.md', 'x'], 1, `docs/gozo.md: ${otherFile}`],
      [['docs', 'docs/gozo.md'], 1, `docs/gozo.md: ${otherFile}`],
      [
        ['who services it?', 'docs', './notes'],
        2,
        'the question comes after the places: lorekeep ask docs ./notes "who services it?"',
      ],
      [['when?', './docs'], 2, `the question comes after the places: lorekeep ask ./docs "when?"`],
      [['when', 'docs'], 2, 'the question comes after the places: lorekeep ask docs "when"'],
      [['base/kb.json', 'docs'], 1, 'base/kb.json: there is no folder or file of that name here'],
      [['./docs', 'sub/bad.json', 'x'], 1, 'lorekeep: sub/bad.json:1:6: not valid JSON'],
      [['./docs', './sub/other.json', 'x'], 1, 'lorekeep: ./sub/other.json:1:1: embedding_model: is missing'],
      [['sub/list.json', 'x'], 1, 'lorekeep: sub/list.json:1:1: an object is expected, not an array of 0'],
      [['', 'x'], 2, 'the name of the knowledge base is empty'],
      [['docs', ''], 2, 'the question is blank'],
      [['docs', ' \n'], 2, 'the question is blank'],
      [
        ['docs', 'x', '--access-token-file', 'f'],
        2,
        '--access-token-file: it has no effect without a server',
      ],
      [['docs', 'x', '--port', '1', '--catalog', 'c'], 2, '--catalog: it has no effect on a server'],
      [['docs', 'x', '--model', 'gone.gguf'], 1, '--model: gone.gguf: the file does not exist'],
      [['docs', 'x', '--model', 'nothing'], 1, 'nothing'],
    ];
    for (const [args, status, message] of cases) {
      const failed = await running(['ask', ...args]);
      expect([failed.status, failed.stderr]).toEqual([status, expect.stringContaining(message)]);
    }
  });

  it.each([
    ['docs/gozo.md', 'docs/gozo.md: not a GGUF file'],
    [embedder, `${embedder}: no language model: the architecture 'bert' is not supported`],
  ])('refuses %s as a language model before it indexes, and not as a bug', async (model, message) => {
    mkdirSync(inFolder('fresh'), { recursive: true });
    writeFileSync(inFolder('fresh', 'a.md'), service);
    const failed = await running(['ask', 'fresh', 'who services it?', '--model', model]);
    expect(failed).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(`lorekeep: --model: ${message}`),
    });
    expect(failed.stderr.split('\n')).toHaveLength(2);
  });
});

describe('lorekeep chat, of folders', () => {
  it('names the folder of each source in JSON', async () => {
    mkdirSync(inFolder('boats'));
    writeFileSync(inFolder('boats', 'gozo.md'), 'The red boat is repaired in April.\n');
    const stdin = 'when is the red boat repaired?\n';
    const { stdout, stderr } = await running(['chat', 'docs', 'boats', '--json'], { stdin });
    const { sources, folders } = JSON.parse(stdout);
    const [{ storage, metadata }] = sources;
    expect(metadata.path, stderr).toBe('gozo.md');
    expect(folders[storage]).toBe('boats');
  });

  it('quotes where there is no language model, and refuses unknown commands with the list', async () => {
    const stdin = 'who services the telescope?\n/hlep\n//who services it?\n/stats\n/quit\nno\n';
    const { status, stdout, stderr } = await running(['chat', 'docs'], { stdin });
    expect(status).toBe(1);
    expect(stderr).toContain('there is no language model');
    expect(stderr).toContain(
      '/hlep: there is no such command. /stats shows tokens and times, /help this list, /quit ends',
    );
    expect(stdout).toContain(`${service}\n  docs/gozo.md > Service\n`);
    expect(stdout).toMatch(/\nturns {9}2\n/);
  });
});
