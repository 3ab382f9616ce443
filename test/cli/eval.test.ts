import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../helpers/folder.js';
import { program, shell } from './command.js';
import { commandHost } from './commands.js';
import { writeSample } from './sample.js';

const inFolder = temporaryFolder();
const lorekeep = commandHost();
const long = temporaryFolder();
let kb = '';
beforeAll(() => {
  kb = writeSample(inFolder, { index_file: undefined });
});

function questions(...lines: object[]): string {
  const path = inFolder('questions.jsonl');
  writeFileSync(path, lines.map((line) => JSON.stringify(line)).join('\n'));
  return path;
}

describe('lorekeep eval', () => {
  it('prints a table of settings, the worst questions and advice', async () => {
    const path = questions(
      { question: 'how do bees find flowers?', relevant: ['bees'] },
      { question: 'which bear sleeps in winter?', relevant: ['nowhere'] },
    );
    const { status, stdout, stderr } = await lorekeep(['eval', kb, path]);
    expect(status).toBe(0);
    // A slow machine prints progress too.
    expect(stderr.replace(/^embedding: .*\n/m, '')).toBe(
      `lorekeep: warning: ${path}: no record has the id "nowhere"; they count as not found\n`,
    );
    expect(stdout).toMatch(/^2 questions, the first 10 hits of each$/m);
    expect(stdout).toMatch(/^setting +nDCG +recall +MRR +hit rate/m);
    expect(stdout).toMatch(/^hybrid scores \* +0\.500 +0\.500 +0\.500 +0\.500/m);
    expect(stdout).toMatch(/^lexical +0\.\d{3}/m);
    expect(stdout).toMatch(
      /^Relevance of the hits of \*: 0\.\d{3} on average, 0\.\d{3} are relevant, AUROC /m,
    );
    expect(stdout).toMatch(
      /--min-score 0(\.\d+)? keeps 95 % of the relevant hits and drops \d+ % of the others/,
    );
    expect(stdout).toContain('which bear sleeps in winter?');
    expect(stdout).toContain('nowhere (not in the first 100)');
    expect(stdout).toMatch(/^What to change:$/m);
    expect(stdout).toContain('check their ids');
  });

  it('prints an interval of differences from two questions on', async () => {
    const one = { question: 'how do bees find flowers?', relevant: ['bees'] };
    const { stdout } = await lorekeep(['eval', kb, questions(one)]);
    expect(stdout).toMatch(/^lexical .* [+-]0\.\d{3}$/m);
    const both = await lorekeep(['eval', kb, questions(one, { question: 'honey', relevant: ['honey'] })]);
    expect(both.stdout).toMatch(/^lexical .* [+-]0\.\d{3} ± 0\.\d{3}$/m);
  });

  it('prints the correction of relevance that the judgments ask for, until the config has it', async () => {
    const ids = ['bees', 'honey', 'glacier', 'wide', 'family'];
    const path = questions(
      ...Array.from({ length: 25 }, (_, n) => ({
        question: `how do bees find flowers in year ${n}?`,
        relevant: ids.filter((_, at) => at !== n % 5),
      })),
    );
    const { stdout } = await lorekeep(['eval', kb, path]);
    expect(stdout).toMatch(/^Calibration error 0\.\d{3}; 0\.\d{3} with a correction learned from other/m);
    const [, relevance = '{}'] = /set "relevance": (\{.*\}\}) in "search" of the config/.exec(stdout) ?? [];
    expect(JSON.parse(relevance)).toMatchObject({ hybrid: { offset: expect.any(Number) } });
    const corrected = writeSample(inFolder, { index_file: undefined, relevance: JSON.parse(relevance) });
    const again = await lorekeep(['eval', corrected, path]);
    writeSample(inFolder, { index_file: undefined });
    expect(again.stdout).not.toContain('set "relevance"');
    const errorOf = (text: string) => Number(/^Calibration error (\S+);/m.exec(text)?.[1]);
    expect(errorOf(again.stdout)).toBeLessThan(errorOf(stdout));
  });

  it('prints one result under --json', async () => {
    const path = questions({ question: 'ice', relevant: { glacier: 2 } });
    const { stdout } = await lorekeep(['eval', kb, path, '--json', '--top-k', '3']);
    expect(JSON.parse(stdout)).toMatchObject({
      questions: 1,
      drafts: 0,
      topK: 3,
      advice: [expect.any(String)],
    });
  });

  it('drafts questions to a new file, marks them, and says that they are easy', async () => {
    const path = inFolder('drafts.jsonl');
    const { status, stdout } = await lorekeep(['eval', kb, path, '--draft', '3']);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^- \d of \d questions? (is a draft|are drafts): /m);
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) expect(JSON.parse(line)).toMatchObject({ draft: true });
    const again = await lorekeep(['eval', kb, path, '--draft', '3']);
    expect(again.status).toBe(2);
    expect(again.stderr).toContain('exists already');
    expect(readFileSync(path, 'utf8').trimEnd().split('\n')).toEqual(lines);
  });

  it.skipIf(process.platform === 'win32')('leaves no file of drafts that could not be written', async () => {
    const path = inFolder('unwritten.jsonl');
    const command = `ulimit -f 0 && exec '${process.execPath}' '${program}' eval '${kb}' '${path}' --draft 3`;
    const { status, stderr } = await shell(command);
    expect(status).toBe(1);
    expect(stderr).toContain(`${path}: EFBIG`);
    expect(existsSync(path)).toBe(false);
  });

  it('names a missing file with the way to draft one, and a wrong line with its number', async () => {
    const missing = await lorekeep(['eval', kb, inFolder('absent.jsonl')]);
    expect(missing.status).toBe(1);
    expect(missing.stderr).toContain('--draft');
    expect(existsSync(inFolder('absent.jsonl'))).toBe(false);
    const wrong = await lorekeep(['eval', kb, questions({ question: 'x' })]);
    expect(wrong.status).toBe(1);
    expect(wrong.stderr).toContain('questions.jsonl:1');
    const unnamed = await lorekeep(['eval', kb, '']);
    expect(unnamed).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('the name of the questions file is empty'),
    });
  });

  it('refuses questions whose relevant records are all absent', async () => {
    const path = questions(
      { question: 'how do bees find flowers?', relevant: ['a1'] },
      { question: 'ice', relevant: ['a2', 'a3'] },
    );
    const { status, stdout, stderr } = await lorekeep(['eval', kb, path]);
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toContain(`${path}: no record has any of their relevant ids, such as "a1"`);
  });

  it('reads no file that ends in the middle of a line, and no knowledge base without records', async () => {
    const path = questions({ question: 'ice', relevant: ['glacier'] }, { question: 'x', relevant: ['bees'] });
    writeFileSync(path, readFileSync(path).subarray(0, -10));
    const { status, stderr } = await lorekeep(['eval', kb, path]);
    expect(status).toBe(1);
    expect(stderr).toContain('questions.jsonl:2: not a JSON object');
    const empty = writeSample(long, { index_file: undefined });
    writeFileSync(long('records.json'), '[]');
    const none = await lorekeep(['eval', empty, questions({ question: 'ice', relevant: ['glacier'] })]);
    expect(none).toMatchObject({ status: 1, stdout: '', stderr: expect.stringContaining('records.json') });
  });

  it('refuses files that are no questions, by their place', async () => {
    const path = inFolder('hostile.jsonl');
    const line = '{"question": "x", "relevant": ["a"], "relevant": ["b"]}';
    for (const [content, reason] of [
      [`\n${line}\n`, 'hostile.jsonl:2: relevant: occurs twice'],
      [`{"question": "x", "relevant": ${'['.repeat(100)}${']'.repeat(100)}}`, 'nested deeper than 64 levels'],
      ['{"question": "x", "relevant": ["a", "b", "a"]}', 'hostile.jsonl:1: relevant: "a" is named twice'],
      [
        '\n{"question": "x", "relevant": "a"}',
        'hostile.jsonl:2: relevant: a list of ids or an object of gains',
      ],
      [
        `{"question": "${'x '.repeat(20_000)}", "relevant": ["a"]}`,
        'hostile.jsonl:1: question: a text of at most',
      ],
      [
        '{"question": "x", "relevant": ["a"]}\n\n{"question": " x", "relevant": ["b"]}',
        'hostile.jsonl:3: the question of line 1 again; name all relevant records in one line',
      ],
      ['{"question": "\0", "relevant": ["a"]}', 'hostile.jsonl:1: not a JSON object'],
      ['\ufeff\r\n \r\n', 'hostile.jsonl: no questions'],
      [Buffer.from('\ufeff{}', 'utf16le'), 'is not UTF-8'],
      [Buffer.from('{"question": "\xe9", "relevant": ["a"]}', 'latin1'), 'is not UTF-8'],
    ] as const) {
      writeFileSync(path, content);
      const { status, stderr } = await lorekeep(['eval', kb, path]);
      expect(status).toBe(1);
      expect(stderr).toContain(reason);
    }
    const folder = await lorekeep(['eval', kb, inFolder()]);
    expect(folder.stderr).toContain('is a folder; a file is expected');
  });

  it.skipIf(process.platform === 'win32')('refuses a pipe of questions at once', async () => {
    const pipe = inFolder('questions.pipe');
    expect(spawnSync('mkfifo', [pipe]).status).toBe(0);
    const { status, stderr } = await lorekeep(['eval', kb, pipe]);
    expect(status).toBe(1);
    expect(stderr).toContain('not a regular file');
  });

  it('drafts questions of records files of any length', async () => {
    const records = Array.from({ length: 500 }, (_, n) => ({
      id: `r${n}`,
      text: `Bees number ${n} find flowers. They fly far.`,
      metadata: { topic: 'x'.repeat(10_000) },
    }));
    const config = writeSample(long, { index_file: undefined });
    writeFileSync(long('records.json'), JSON.stringify(records));
    const { status, stderr } = await lorekeep(['eval', config, long('drafts.jsonl'), '--draft', '2']);
    expect(status, stderr).toBe(0);
    const lines = readFileSync(long('drafts.jsonl'), 'utf8').trimEnd().split('\n');
    expect(lines.map((one) => JSON.parse(one).relevant)).toEqual([['r0'], ['r250']]);
  });
});
