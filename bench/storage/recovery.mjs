// Opening a knowledge base whose changes are in its log alone: what a process does after a crash, or before a merge.
//
//   node bench/storage/recovery.mjs [--records 30000] [--words 160] [--megabytes 100] [--rounds 7] [--markdown]
//
// A process adds records of --words words and 384 dimensions in batches of 1,000 until the change log has --megabytes, and ends without a
// merge. Then processes of their own open the base with the log and, in turns, a copy that is as it was built: the time of
// openKnowledgeBase() and the processor time of it. The target is one second for 100 MB. The files are in the page cache.
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { openKnowledgeBase } from '../../dist/src/knowledge/index.js';
import { load, machine } from '../harness/machine.mjs';
import { median, Random } from '../harness/numbers.mjs';
import { markdownTable, terminalTable } from '../harness/table.mjs';
import { buildMadeBase, dimension, madeModel, madeVectors } from './made-base.mjs';

const { values } = parseArgs({
  options: {
    records: { type: 'string', default: '30000' },
    words: { type: 'string', default: '160' },
    megabytes: { type: 'string', default: '100' },
    rounds: { type: 'string', default: '7' },
    markdown: { type: 'boolean', default: false },
    do: { type: 'string' },
    base: { type: 'string' },
  },
});
const seed = 36;
const batch = 1000;
const words = Number(values.words);

/** A stand-in for an embedding model: gives the rows of `vectors` one after another, whatever the texts. */
function modelOf(vectors) {
  let next = 0;
  const rows = (texts) => {
    const begin = next;
    next = (next + texts.length * dimension) % vectors.length;
    return vectors.slice(begin, begin + texts.length * dimension);
  };
  return async () => madeModel(rows);
}

const roles = {
  async build() {
    const count = Number(values.records);
    await buildMadeBase(values.base, { type: 'f32', count, seed, efConstruction: 24, words });
  },
  async change() {
    const kb = await openKnowledgeBase(join(values.base, 'f32.json'), {
      models: modelOf(madeVectors(batch, seed, 2)),
    });
    const random = new Random(seed);
    const word = () => `w${Math.floor(50_000 ** random.uniform())}`;
    const textOf = () => Array.from({ length: words }, word).join(' ');
    for (let n = 0; logBytes(values.base) < Number(values.megabytes) * 1e6; n += batch)
      await kb.add(Array.from({ length: batch }, (_, i) => ({ id: `added-${n + i}`, text: textOf() })));
    // Without closing, which may merge.
    process.kill(process.pid, 'SIGKILL');
  },
  async open() {
    const before = process.cpuUsage();
    const started = performance.now();
    const kb = await openKnowledgeBase(join(values.base, 'f32.json'), {
      models: modelOf(new Float32Array(dimension)),
      readOnly: true,
    });
    const ms = performance.now() - started;
    const { user, system } = process.cpuUsage(before);
    console.log(JSON.stringify({ ms, cpu: (user + system) / 1000, records: kb.size }));
    await kb.close();
  },
};

const logBytes = (folder) =>
  statSync(join(folder, 'records.json.changes'), { throwIfNoEntry: false })?.size ?? 0;

/** Runs a role in a child process and returns its output. */
function inProcess(role, base) {
  const args = [fileURLToPath(import.meta.url), ...process.argv.slice(2), '--do', role, '--base', base];
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

if (values.do !== undefined) {
  await roles[values.do]();
} else {
  const place = mkdtempSync(join(tmpdir(), 'lorekeep-recovery-'));
  const bases = { 'as built': join(place, 'built'), 'with the log': join(place, 'changed') };
  try {
    mkdirSync(bases['as built']);
    await inProcess('build', bases['as built']);
    cpSync(bases['as built'], bases['with the log'], { recursive: true, preserveTimestamps: true });
    await inProcess('change', bases['with the log']);
    const rounds = Object.fromEntries(Object.keys(bases).map((name) => [name, []]));
    for (let round = -1; round < Number(values.rounds); round++)
      for (const [name, base] of Object.entries(bases)) {
        const opened = JSON.parse(await inProcess('open', base));
        if (round >= 0) rounds[name].push(opened);
      }
    const table = {
      title: `Opening ${values.records} records of ${dimension} dimensions`,
      columns: [
        { key: 'name', label: '' },
        { key: 'records', label: 'records', digits: 0 },
        { key: 'log', label: 'change log, MB', digits: 0 },
        { key: 'ms', label: 'median ms', digits: 0 },
        { key: 'longest', label: 'longest ms', digits: 0 },
        { key: 'cpu', label: 'processor ms', digits: 0 },
      ],
      rows: Object.entries(rounds).map(([name, list]) => ({
        name,
        records: list[0].records,
        log: logBytes(bases[name]) / 1e6,
        ms: median(list.map(({ ms }) => ms)),
        longest: Math.max(...list.map(({ ms }) => ms)),
        cpu: median(list.map(({ cpu }) => cpu)),
      })),
    };
    console.log(JSON.stringify({ ...machine(), load: load() }));
    console.log(values.markdown ? markdownTable(table) : terminalTable(table));
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}
