import { mkdirSync, writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { columns } from '../../src/cli/terminal/columns.js';
import { wrapped } from '../../src/cli/terminal/lines.js';
import { fittedTable } from '../../src/cli/terminal/table.js';
import { temporaryFolder } from '../helpers/folder.js';
import { repetitions } from '../helpers/repetitions.js';
import { noTerminal, onTerminal } from './command.js';
import { commandHost } from './commands.js';

const inFolder = temporaryFolder();
const lorekeep = commandHost();
const env = () => ({ LOREKEEP_STATE: inFolder('state'), LOREKEEP_DATA_DIR: inFolder('data') });

beforeAll(() => {
  mkdirSync(inFolder('docs'));
  const gozo = '# Gozo\n\nAnna Holm services the telescope in Gozo. It is on a hill.\n';
  writeFileSync(inFolder('docs', 'gozo.md'), gozo);
  const long = 'a-file-with-a-very-long-name-that-no-narrow-terminal-shows.md';
  writeFileSync(inFolder('docs', long), '# Bees\n\nBees find flowers.\n');
});

const kb = 'lore/knowledge/harbour/kb.json';

/** Every command that ends by itself, and the status with which it does. */
const commands: [args: string[], status: number][] = [
  [['--help'], 0],
  [['index', 'docs', '--json'], 0],
  [['index', 'docs'], 0],
  [['indexes', 'list'], 0],
  [['build', kb], 0],
  [['check', kb], 0],
  [['check', 'lore/models.json'], 0],
  [['search', kb, 'who lights the lamp?'], 0],
  [['search', kb, 'who lights the lamp?', '--explain'], 0],
  [['ask', 'docs', 'who services the telescope?'], 0],
  [['list', kb], 0],
  [['models', 'list'], 0],
  [['models', 'show', 'all-MiniLM-L6-v2'], 0],
  [['telemetry', 'status'], 0],
  [['doctor'], 0],
  [['open', 'nowhere'], 1],
  [['run', 'nowhere.gguf', 'x'], 1],
  [['search', 'nowhere.json', 'x'], 1],
];

/** Commands whose results are made for the width. */
const fitting: string[][] = [
  ['indexes', 'list'],
  ['models', 'list'],
  ['check', kb],
  ['check', 'lore/models.json'],
  ['doctor'],
  ['search', kb, 'who lights the lamp?'],
  ['search', kb, 'who lights the lamp?', '--explain'],
  ['ask', 'docs', 'who services the telescope?'],
];

const options = () => ({ cwd: inFolder(), env: env() });
let made: Promise<void> | undefined;

async function makeKnowledgeBase(): Promise<void> {
  for (const args of [
    ['init', 'lore'],
    ['build', kb],
    ['index', 'docs'],
  ]) {
    const { status, stderr } = await lorekeep(args, options());
    expect(status, stderr).toBe(0);
  }
}

/** Every command is started on the narrowest terminal; the others follow in the long form. */
const widths = [20, 40, 60].slice(0, repetitions('WIDTHS', 1, 3));

const noPty = noTerminal();
if (noPty !== undefined) console.log(`left out: commands on narrow terminals; ${noPty}`);

describe('at 20, 40 and 60 columns', () => {
  it.skipIf(noPty !== undefined).each(widths)('every command works on a terminal of %i', async (width) => {
    made ??= makeKnowledgeBase();
    await made;
    for (const [args, wanted] of commands) {
      const { status, stdout } = await onTerminal(width, args, [], options());
      const name = `${args.join(' ')} at ${width}`;
      expect(stdout, name).not.toContain('a bug in lorekeep');
      expect(status, `${name}: ${stdout}`).toBe(wanted);
    }
  });

  it.each([20, 40, 60])('no line of a table or a list is longer than %i', async (width) => {
    made ??= makeKnowledgeBase();
    await made;
    for (const args of fitting) {
      const env = { ...options().env, COLUMNS: String(width) };
      const { stdout } = await lorekeep(args, { cwd: inFolder(), env });
      const longest = Math.max(...stdout.split('\n').map(columns));
      expect(longest, `${args.join(' ')} at ${width}: ${stdout}`).toBeLessThanOrEqual(width);
      expect(stdout.length).toBeGreaterThan(20);
    }
  });
});

describe('tables', () => {
  const layout = [
    { title: 'name', align: 'left' },
    { title: 'state', align: 'left' },
    { title: 'size', align: 'right' },
  ] as const;
  const rows = [['a model with quite a long name', 'not downloaded', '21.0 MiB']];

  it('stay as they are where they fit', () => {
    expect(fittedTable(layout, rows, 100)[1]).toBe(
      'a model with quite a long name  not downloaded  21.0 MiB',
    );
    expect(fittedTable(layout, rows, Number.POSITIVE_INFINITY)).toHaveLength(2);
  });

  it('truncate long cells', () => {
    expect(fittedTable(layout, rows, 46)[1]).toBe('a model with quite …  not downloaded  21.0 MiB');
  });

  it('become a list where no table can be read', () => {
    expect(fittedTable(layout, rows, 24)).toEqual([
      'a model with quite a',
      'long name',
      '  state: not downloaded',
      '  size: 21.0 MiB',
    ]);
  });

  it('texts are wrapped at blanks, with an indentation', () => {
    expect(wrapped('one two three', 9, '- ', '  ')).toEqual(['- one two', '  three']);
    for (const line of wrapped('x'.repeat(50), 20, '    ')) expect(columns(line)).toBeLessThanOrEqual(20);
  });
});

it.skipIf(noPty !== undefined)(
  'a server says in one line on a terminal where it listens, and where its files are',
  async () => {
    const args = ['serve', '--port', '0'];
    const { status, stdout } = await onTerminal(200, args, ['Ctrl-C ends it', '\\x03'], options());
    expect(status, stdout).toBe(0);
    const before = stdout.slice(0, stdout.indexOf('Ctrl-C ends it'));
    expect(before).toMatch(/^lorekeep \S+ listens on port \d+; knowledge in /m);
    expect(before).not.toContain('backend');
  },
);
