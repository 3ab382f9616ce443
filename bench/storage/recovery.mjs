// Opening a knowledge base whose changes are in its log alone: what a process does after a crash, or before a merge.
//
//   node bench/storage/recovery.mjs [--records 120000] [--megabytes 100] [--rounds 7] [--pause 400] [--only TEXT] [--markdown]
//
// A base of --records made-up records of 850 bytes and 384 dimensions is built. For each kind of text and size of records, a process
// adds records to a copy of it in batches of about 2 MB, or replaces the base's, until the change log has --megabytes, and ends without
// a merge. Between two batches are --pause ms, which is less than embedding takes: the words of the log are saved meanwhile. Then
// processes of their own open the copy and, in turns, the base as it was built: the time of openKnowledgeBase() and the processor time of
// it. The target is one second for 100 MB. The files are in the page cache. --only: rows whose names contain TEXT.
// Prose in other languages than English is a few megabytes, which the log repeats; without LOREKEEP_DATA its rows are left out.
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { openKnowledgeBase } from '../../dist/src/knowledge/index.js';
import { load, machine } from '../harness/machine.mjs';
import { median } from '../harness/numbers.mjs';
import { markdownTable, terminalTable } from '../harness/table.mjs';
import { Records } from '../lorekeep.mjs';
import { buildMadeBase, config, dimension, madeModel, madeVectors, writeWords } from './made-base.mjs';
import { isPresent, textsOf } from './recovery-texts.mjs';

const { values } = parseArgs({
  options: {
    records: { type: 'string', default: '120000' },
    megabytes: { type: 'string', default: '100' },
    rounds: { type: 'string', default: '7' },
    pause: { type: 'string', default: '400' },
    only: { type: 'string', default: '' },
    markdown: { type: 'boolean', default: false },
    do: { type: 'string' },
    base: { type: 'string' },
    row: { type: 'string' },
  },
});
const seed = 36;
const logged = Number(values.megabytes) * 1e6;
const batchBytes = 2e6;
const mostInBatch = 1000;

const small = 850;
const medium = 4500;
const large = 50_000;
const rows = [
  { kind: 'made-up words', size: small, tokenizer: 'basic' },
  { kind: 'made-up words', size: small, tokenizer: 'basic', replaces: true },
  { kind: 'made-up words', size: medium, tokenizer: 'basic' },
  { kind: 'made-up words', size: large, tokenizer: 'basic' },
  { kind: 'English prose', size: small, tokenizer: 'multilingual' },
  { kind: 'English prose', size: medium, tokenizer: 'multilingual' },
  { kind: 'English prose', size: large, tokenizer: 'multilingual' },
  { kind: 'German prose', size: medium, tokenizer: 'multilingual' },
  { kind: 'Russian prose', size: medium, tokenizer: 'multilingual' },
  { kind: 'Chinese prose', size: medium, tokenizer: 'multilingual' },
  { kind: 'prose in 35 languages', size: medium, tokenizer: 'multilingual' },
].map((row) => ({
  ...row,
  name: `${row.kind}, ${row.size} bytes${row.replaces ? ', replaced' : ''}`,
}));

/** A stand-in for an embedding model: gives the rows of `vectors` one after another, whatever the texts. */
function modelOf(vectors) {
  let next = 0;
  const rowsOf = (texts) => {
    const begin = next;
    next = (next + texts.length * dimension) % vectors.length;
    return vectors.slice(begin, begin + texts.length * dimension);
  };
  return async () => madeModel(rowsOf);
}

const open = (vectors, options) =>
  openKnowledgeBase(join(values.base, 'f32.json'), { models: modelOf(vectors), ...options });

const roles = {
  /** Builds the base with the basic tokenizer, and a copy with the multilingual one. */
  async build() {
    const { base } = values;
    const basic = join(base, 'basic');
    mkdirSync(basic);
    const made = { type: 'f32', count: Number(values.records), seed, efConstruction: 24, words: 160 };
    await buildMadeBase(basic, made);
    const other = join(base, 'multilingual');
    copy(basic, other);
    const tokenizer = 'multilingual';
    writeFileSync(join(other, 'f32.json'), JSON.stringify({ ...config('f32'), bm25_tokenizer: tokenizer }));
    const { fields } = config('f32');
    await writeWords(other, await Records.read(join(other, 'records.json'), { fields }), tokenizer);
  },
  async change() {
    const { kind, size, replaces } = rows[values.row];
    const batch = Math.max(1, Math.min(mostInBatch, Math.floor(batchBytes / size)));
    const kb = await open(madeVectors(batch, seed, 2));
    const texts = textsOf(kind, { size, bytes: logged, seed });
    const record = async (n) => ({
      id: replaces ? `record-${n}` : `added-${n}`,
      text: (await texts.next()).value,
    });
    for (let n = 0; logBytes(values.base) < logged; n += batch) {
      const records = [];
      for (let i = 0; i < batch; i++) records.push(await record(n + i));
      await (replaces ? kb.replace(records) : kb.add(records));
      await delay(Number(values.pause));
    }
    // Without closing, which may merge.
    process.kill(process.pid, 'SIGKILL');
  },
  async open() {
    const before = process.cpuUsage();
    const started = performance.now();
    const kb = await open(new Float32Array(dimension), { readOnly: true });
    const ms = performance.now() - started;
    const { user, system } = process.cpuUsage(before);
    console.log(JSON.stringify({ ms, cpu: (user + system) / 1000, records: kb.size }));
    await kb.close();
  },
};

const copy = (from, to) => cpSync(from, to, { recursive: true, preserveTimestamps: true });

const logBytes = (folder) =>
  statSync(join(folder, 'records.json.changes'), { throwIfNoEntry: false })?.size ?? 0;

/** Runs a role in a child process and returns its output. */
function inProcess(role, base, row) {
  const own = ['--do', role, '--base', base, '--row', String(row)];
  const args = [fileURLToPath(import.meta.url), ...process.argv.slice(2), ...own];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (data) => {
    output += data;
  });
  return new Promise((resolve, reject) => {
    child.once('close', (code, signal) => {
      const ended = role === 'change' ? signal === 'SIGKILL' : code === 0;
      if (ended) resolve(output);
      else reject(new Error(`${role} ended with ${code ?? signal}`));
    });
  });
}

/** Opens two bases in turns: figures of each. */
async function measure(bases, row) {
  const opened = bases.map(() => []);
  for (let round = -1; round < Number(values.rounds); round++)
    for (const [at, base] of bases.entries()) {
      const one = JSON.parse(await inProcess('open', base, row));
      if (round >= 0) opened[at].push(one);
    }
  return opened.map((list) => ({
    records: list[0].records,
    ms: median(list.map(({ ms }) => ms)),
    longest: Math.max(...list.map(({ ms }) => ms)),
    cpu: median(list.map(({ cpu }) => cpu)),
  }));
}

if (values.do !== undefined) {
  await roles[values.do]();
} else {
  const place = mkdtempSync(join(tmpdir(), 'lorekeep-recovery-'));
  try {
    await inProcess('build', place);
    const measured = [];
    for (const [row, { name, kind, tokenizer }] of rows.entries()) {
      if (!name.includes(values.only)) continue;
      if (!isPresent(kind)) {
        console.log(`${name}: left out, no texts; LOREKEEP_DATA names their folder`);
        continue;
      }
      const changed = join(place, 'changed');
      copy(join(place, tokenizer), changed);
      await inProcess('change', changed, row);
      const [log, built] = await measure([changed, join(place, tokenizer)], row);
      measured.push({
        name,
        tokenizer,
        log: logBytes(changed) / 1e6,
        ...log,
        builtMs: built.ms,
        builtCpu: built.cpu,
      });
      process.stderr.write(`${name}: ${Math.round(log.ms)} ms\n`);
      rmSync(changed, { recursive: true });
    }
    const table = {
      title: `Opening ${values.records} records of ${dimension} dimensions with a log`,
      columns: [
        { key: 'name', label: 'texts of the log' },
        { key: 'tokenizer', label: 'tokenizer' },
        { key: 'records', label: 'records', digits: 0 },
        { key: 'log', label: 'change log, MB', digits: 0 },
        { key: 'ms', label: 'median ms', digits: 0 },
        { key: 'longest', label: 'longest ms', digits: 0 },
        { key: 'cpu', label: 'processor ms', digits: 0 },
        { key: 'builtMs', label: 'without the log, median ms', digits: 0 },
        { key: 'builtCpu', label: 'processor ms', digits: 0 },
      ],
      rows: measured,
    };
    console.log(JSON.stringify({ ...machine(), load: load() }));
    console.log(values.markdown ? markdownTable(table) : terminalTable(table));
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}
