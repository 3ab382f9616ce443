import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const bench = join(root, 'bench');

function run(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(bench, 'suite', 'main.mjs'), ...args],
    {
      encoding: 'utf8',
    },
  );
  return { status, stdout, stderr: stderr.trim() };
}

/** A process that has ended may still wait, as a zombie, for a parent to ask. */
function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
    const stat = `/proc/${pid}/stat`;
    return !existsSync(stat) || !/\) [ZX] /.test(readFileSync(stat, 'utf8'));
  } catch {
    return false;
  }
}

test('every question about the documentation has its answer there', () => {
  const lines = readFileSync(join(bench, 'quality', 'docs-questions.jsonl'), 'utf8')
    .trimEnd()
    .split('\n');
  const lost = lines
    .map((line) => JSON.parse(line) as { page: string; answer: string })
    .filter(({ page, answer }) => {
      const text = readFileSync(join(root, 'docs', page), 'utf8').replace(/\s+/g, ' ');
      return !text.toLowerCase().includes(answer.toLowerCase());
    });
  expect(lines.length).toBeGreaterThan(30);
  expect(lost).toEqual([]);
});

describe('the command line of npm run bench', () => {
  test('lists every trial, and each is a program that is there', async () => {
    const { trials } = await import(join(bench, 'suite', 'trials.mjs'));
    const { status, stdout } = run('--list');
    expect(status).toBe(0);
    expect(trials.length).toBeGreaterThan(8);
    for (const { name, program } of trials) {
      expect(stdout).toMatch(new RegExp(`^${name} `, 'm'));
      expect(existsSync(join(bench, program)), program).toBe(true);
    }
  });

  test('says what is known when it is wrong, and runs nothing', () => {
    const { status, stderr } = run('--only', 'dense,dence');
    expect(stderr).toMatch(/^bench: --only dence: there is no such trial; there are dense,/);
    expect(status).toBe(2);
  });

  test.each([
    [['--qick'], "Unknown option '--qick'; the options are --quick,"],
    [['--only', ''], '--only "": there is no such trial;'],
    [['dense'], "Unexpected argument 'dense'"],
  ])('refuses %j', async (args, message) => {
    const { readOptions } = await import(join(bench, 'suite', 'options.mjs'));
    expect(() => readOptions(args)).toThrow(message);
  });

  test.each([
    ['generation/speed.mjs', '--parts', 'none', '--parts none: there is no such part'],
    ['reliability/main.mjs', '--kinds', 'none', '--kinds none: there are kills,'],
    ['call/cost.mjs', '--none', '', "Unknown option '--none'; the options are --library"],
  ])('%s names a wrong option in one line', (program, option, value, message) => {
    const args = [join(bench, program), option, ...(value ? [value] : [])];
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    expect(stderr).toContain(message);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(status).toBe(2);
  });

  test('publishes what is whole: all trials at full size, or what is asked for', async () => {
    const { readOptions } = await import(join(bench, 'suite', 'options.mjs'));
    expect(readOptions([]).publish).toBe(true);
    expect(readOptions(['--quick']).publish).toBe(false);
    expect(readOptions(['--only', 'dense']).publish).toBe(false);
    expect(readOptions(['--only', 'server,dense', '--publish'])).toMatchObject({
      publish: true,
      names: ['dense', 'server'],
    });
    expect(readOptions(['--only', 'speech']).names).toEqual(
      ['voice', 'text', 'beams', 'short', 'partial', 'joined', 'times', 'speed'].map(
        (part) => `speech-${part}`,
      ),
    );
  });
});

describe('results', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'lorekeep-bench-test-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const sample = () =>
    JSON.parse(readFileSync(join(import.meta.dirname, 'bench-sample.json'), 'utf8')).trials;

  async function publish(trials: unknown[], page: string) {
    const path = join(folder, 'docs', 'measurements', 'results.md');
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, page);
    const module = await import(join(bench, 'suite', 'publish.mjs'));
    module.publish(trials, folder);
    return readFileSync(path, 'utf8');
  }

  test('become tables between the markers, and the rest of the page stays', async () => {
    const page =
      'Before.\n<!-- begin dense-clusters -->\nold\n<!-- end dense-clusters -->\nAfter.\n<!-- begin run --><!-- end run -->\n';
    const written = await publish(sample(), page);
    expect(written).toMatch(/^Before\.\n<!-- begin dense-clusters -->\n\n\| {2}\| queries\/s/);
    expect(written).toContain('| lorekeep | 12346 | 1.00 |');
    expect(written).toContain('| hnswlib-node | failed: no answer in 600 s |');
    const prose = written.split('\n').filter((line) => !line.startsWith('|'));
    expect(prose.join(' ')).toContain(
      'lorekeep 9.9.9 abcdef0, 2026-01-02, full sizes. 2 cores of Some Processor',
    );
    expect(prose.join(' ')).toContain('Not all went well: dense: partly.');
    expect(Math.max(...prose.map((line) => line.length))).toBeLessThanOrEqual(100);
    expect(written).not.toContain('old');
    expect(written).toContain('After.');
  });

  test('become curves: well-formed SVG with each series drawn and named', async () => {
    await publish(sample(), '');
    const chart = readFileSync(join(folder, 'docs', 'measurements', 'recall-qps.svg'), 'utf8');
    const { DOMParser } = await import('linkedom');
    const svg = new DOMParser().parseFromString(chart, 'image/svg+xml');
    const texts = [...svg.querySelectorAll('text')].map((text) => text.textContent);
    expect(texts).toEqual(
      expect.arrayContaining(['Recall against queries per second', 'lorekeep', 'usearch f16', '0.95']),
    );
    expect(svg.querySelectorAll('path').length).toBeGreaterThanOrEqual(2);
    expect(chart).not.toMatch(/NaN|Infinity|undefined/);
  });

  test('of a trial that gave none leave what was published', async () => {
    const page =
      '<!-- begin dense-clusters -->\n<!-- end dense-clusters -->\n<!-- begin server -->\n<!-- end server -->\n';
    await publish(sample(), page);
    const failed = [{ name: 'dense', status: 'out of time', reason: 'not done in 3 minutes' }];
    const written = await publish(failed, page);
    expect(written).toContain('| lorekeep | 12346 |');
    expect(written).toContain('<!-- begin server -->\n\nNot measured yet.');
  });

  test('fill the comparison of README.md: a number in the column of its program', async () => {
    const { comparison } = await import(join(bench, 'whole', 'comparison.mjs'));
    const table = (name: string, rows: unknown[]) => ({ name, tables: [{ id: name, rows }] });
    const lines = comparison([
      table('install', [{ name: 'Qdrant', install: 33.4, note: 'the client' }]),
      table('whole', [
        { name: 'lorekeep', first: 0.512, ndcg: 0.4761 },
        { name: 'lorekeep, words alone', first: 0.104 },
        { name: 'LanceDB, full text', first: 1.13 },
        { name: 'MiniSearch', first: 0.98 },
      ]),
    ]).split('\n');
    const row = (label: string) => lines.find((line: string) => line.startsWith(`| ${label} `));
    expect(lines[0]).toContain('|  | lorekeep | qmd | MiniSearch | sqlite-vec | LanceDB |');
    expect(row('install, MB')).toBe('| install, MB |  |  |  |  |  | 33, the client |  |  |');
    expect(row('first answer, s')).toBe(
      '| first answer, s | 0.51; words 0.10 |  | 0.98 |  | words 1.13 |  |  |  |',
    );
    expect(row('nDCG@10 on Cranfield')).toContain('| 0.476 |  |');
    expect(new Set(lines.map((line: string) => line.split('|').length))).toEqual(new Set([11]));
  });

  test('the pages of this repository have a place for every published table', async () => {
    const { pages } = await import(join(bench, 'suite', 'publish.mjs'));
    const published = join(root, 'docs', 'measurements', 'results.json');
    const { trials } = existsSync(published) ? JSON.parse(readFileSync(published, 'utf8')) : { trials: [] };
    const texts = pages.map((page: string) => readFileSync(join(root, page), 'utf8'));
    for (const { tables } of trials) {
      for (const { id } of tables)
        expect(
          texts.filter((text: string) => text.includes(`<!-- begin ${id} -->`)),
          id,
        ).not.toEqual([]);
    }
    expect(texts[0]).toContain('<!-- begin run -->');
  });
});

describe('the trial of embedding', () => {
  const row = (name: string, perSecond: number, queryMs: number) => ({
    ...{ model: 'm Q8_0', tokens: 16, name, perSecond, queryMs, many: 'a', one: 'b' },
    ...{ ratio: 1000 / perSecond, queryRatio: 2 / queryMs },
  });
  async function tables(rows: unknown[]) {
    const { report } = await import(join(bench, 'embedding', 'report.mjs'));
    return report({}, { rows, curves: [], leftOut: [], failed: [] }).tables;
  }

  test('compares with the best peer at many texts, and with the best peer at one', async () => {
    const [best, all] = await tables([row('lorekeep', 1000, 2), row('slow', 100, 4), row('fast', 250, 8)]);
    expect(all.rows).toHaveLength(3);
    expect(best.rows).toEqual([
      expect.objectContaining({ peer: 'fast, a', ratio: 4, queryPeer: 'slow, b', queryRatio: 0.5 }),
    ]);
  });

  test('compares with nobody where no peer is there', async () => {
    const [first] = await tables([row('lorekeep', 1000, 2)]);
    expect(first.id).toBe('embedding');
  });
});

describe('a trial process', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'lorekeep-bench-test-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  async function start(code: string, limitMinutes = 1, say: (line: string) => void = () => {}) {
    const { TrialProcess } = await import(join(bench, 'suite', 'trial-process.mjs'));
    const program = join(folder, 'trial.mjs');
    writeFileSync(program, code);
    return new TrialProcess(program, [], limitMinutes, say);
  }

  test('that throws is failed, with its own words', async () => {
    const { status, reason } = await (await start("throw new Error('no such index')")).finished();
    expect(status).toBe('failed');
    expect(reason).toContain('Error: no such index');
  });

  test('that does not end runs out of time', async () => {
    const { status, reason } = await (await start('setInterval(() => {}, 1000);', 1 / 600)).finished();
    expect(status).toBe('out of time');
    expect(reason).toContain('not done in');
  });

  test('takes what it started along', async () => {
    const child = 'console.log(process.pid); setInterval(() => {}, 1000);';
    const code = `import { spawn } from 'node:child_process';
      spawn(process.execPath, ['-e', ${JSON.stringify(child)}], { stdio: 'inherit' }); setInterval(() => {}, 1000);`;
    let started: (line: string) => void = () => {};
    const line = new Promise<string>((resolve) => {
      started = resolve;
    });
    const trial = await start(code, 1, started);
    const pid = Number(await line);
    trial.kill();
    // Its output closes when the last process that holds it has ended.
    expect((await trial.finished()).status).toBe('failed');
    // It closes its descriptors a moment before it has ended.
    await vi.waitFor(() => expect(runs(pid)).toBe(false), 10_000);
  });

  test('whose contestant fell is partly done', async () => {
    const result = { tables: [], curves: [], leftOut: [], failed: [{ name: 'peer', reason: 'fell' }] };
    const code = `process.send({ result: ${JSON.stringify(result)} }, () => process.exit(1));`;
    const { status } = await (await start(code)).finished();
    expect(status).toBe('partly');
  });
});
