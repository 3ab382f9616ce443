// The flags of a search, in every mode: `search` and `ask` share them, and refuse one without effect.
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { addBuild } from '../../src/cli/commands/build.js';
import { addEval } from '../../src/cli/commands/eval.js';
import { addIndex } from '../../src/cli/commands/index.js';
import { addInit } from '../../src/cli/commands/init.js';
import { addServe } from '../../src/cli/commands/serve.js';
import { UsageError } from '../../src/cli/failure.js';
import { lexicalRequest } from '../../src/cli/flags/lexical.js';
import { addRetrievalFlags, type RetrievalFlags, requireEffect } from '../../src/cli/flags/retrieval.js';
import { temporaryFolder } from '../helpers/folder.js';
import { commandHost } from './commands.js';
import { writeSample } from './sample.js';

const inFolder = temporaryFolder();
const lorekeep = commandHost();
const modes = ['dense', 'lexical', 'hybrid'];

/** Flags and the modes in which they have an effect. */
const flags: readonly [given: readonly string[], modes: readonly string[]][] = [
  [['--top-k', '3'], modes],
  [['--min-score', '0.1'], modes],
  [['--rerank'], modes],
  [['--offset', '1'], modes],
  [['--group-by', 'topic'], modes],
  [['--drop-duplicates', '0.1'], modes],
  [['--context', '1'], modes],
  [['--filter', '{"==": [1, 1]}'], modes],
  [
    ['--threshold', '0.5'],
    ['dense', 'hybrid'],
  ],
  [['--fusion', 'rrf'], ['hybrid']],
  [['--fusion', 'scores'], ['hybrid']],
  [['--extended'], ['lexical', 'hybrid']],
  [['--fuzzy'], ['lexical', 'hybrid']],
  [
    ['--boost', 'topic=2'],
    ['lexical', 'hybrid'],
  ],
  [
    ['--stop-words', 'a'],
    ['lexical', 'hybrid'],
  ],
  [
    ['--synonyms', 'ice,snow'],
    ['lexical', 'hybrid'],
  ],
  [
    ['--lexical', '{"fuzziness": 1}'],
    ['lexical', 'hybrid'],
  ],
  [['--variables', '{"t": 1}'], []],
];

const cases = flags.flatMap(([given, effective]) =>
  modes.map((mode) => ({ given, mode, does: effective.includes(mode) ? 'takes' : 'refuses' })),
);

const parse = (given: readonly string[]) =>
  addRetrievalFlags(new Command()).parse(given, { from: 'user' }).opts<RetrievalFlags>();

describe('a search from the command line', () => {
  it.each(cases)('$does $given in $mode mode', async ({ given, mode, does }) => {
    const parsed = parse(['--mode', mode, ...given]);
    const check = async () => {
      requireEffect(parsed);
      await lexicalRequest(parsed);
    };
    if (does === 'takes') return check();
    const error = await check().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UsageError);
    expect((error as UsageError).message).toContain(`${given[0]}: it has no effect`);
  });

  it.each([
    ['index', addIndex],
    ['init', addInit],
    ['build', addBuild],
    ['eval', addEval],
    ['serve', addServe],
  ] as const)('lorekeep %s refuses all of these flags', async (name, add) => {
    for (const [[flag]] of flags) {
      if (flag === '--top-k' && name === 'eval') continue;
      const program = new Command().exitOverride().configureOutput({ outputError() {} });
      await add(program, []);
      const parsed = program.parseAsync([name, flag as string], { from: 'user' });
      await expect(parsed).rejects.toMatchObject({
        code: 'commander.unknownOption',
        message: expect.stringContaining(`unknown option '${flag}'`),
      });
    }
  });

  it('leaves the defaults to the knowledge base', () => {
    expect(parse([])).toEqual({});
    expect(parse(['--drop-duplicates'])).toEqual({ dropDuplicates: 0.05 });
  });

  it('refuses --highlight without --json', async () => {
    const path = writeSample(inFolder, { index_file: undefined });
    const { status, stderr } = await lorekeep(['search', path, 'ice', '--highlight']);
    expect(status).toBe(2);
    expect(stderr).toContain('--highlight: it has no effect without --json');
  });
});
