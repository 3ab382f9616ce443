// Opens a large knowledge base: time from openKnowledgeBase() to the first query's answer, resident memory, and what the
// vector types cost in memory and recall.
//
// Data: made from a printed seed, nothing is read or downloaded. Vectors of 384 numbers lie around cluster centres of
// random norms, as text embeddings do; texts are 60 words drawn from 50,000 by a Zipf law; two metadata fields. The model is
// a stand-in that gives made vectors: no text is embedded, here or in the time that is measured.
// Caveats: the files are in the page cache when they are opened (they have just been read once); each opening and each
// type runs in a process of its own; recall is taken against an exact search of the f32 rows; a kernel that is short
// of memory evicts mapped pages, and then resident memory says less than the index needs.
//
// node bench/storage/open.mjs [--records 500000] [--folder F] [--seed N] [--types f32,f16,i8] [--rounds 3]
//   [--ef-construction 200] [--json]
// needs `npm run build`, for 500,000 records 3 GB of disk per type and 4 GB of memory
import { execFileSync } from 'node:child_process';
import {
  createWriteStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const dimension = 384;
const wordsPerText = 60;
const vocabulary = 50_000;
const queries = 200;
const self = fileURLToPath(import.meta.url);
const root = fileURLToPath(new URL('../..', import.meta.url));

/** mulberry32, values in [0, 1). */
function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Row-major unit vectors around shared centres: `count` rows from `stream` of this seed. */
function madeVectors(count, seed, stream) {
  const centres = new Float32Array(1000 * dimension);
  const centre = random(seed);
  for (let i = 0; i < centres.length; i++) centres[i] = centre() + centre() + centre() - 1.5;
  const next = random(seed + stream);
  const rows = new Float32Array(count * dimension);
  for (let row = 0; row < count; row++) {
    const from = Math.floor(next() * 1000) * dimension;
    let squares = 0;
    for (let i = 0; i < dimension; i++) {
      const value = centres[from + i] + 0.8 * (next() + next() + next() - 1.5);
      rows[row * dimension + i] = value;
      squares += value * value;
    }
    const inverse = 1 / Math.sqrt(squares);
    for (let i = 0; i < dimension; i++) rows[row * dimension + i] *= inverse;
  }
  return rows;
}

async function writeRecords(path, count, seed) {
  const next = random(seed + 3);
  const word = () => `w${Math.floor(vocabulary ** next())}`;
  const out = createWriteStream(path);
  for (let i = 0; i < count; i++) {
    const text = Array.from({ length: wordsPerText }, word).join(' ');
    const record = { id: `record-${i}`, text, metadata: { year: 1900 + (i % 120), topic: `t${i % 50}` } };
    if (!out.write(`${i === 0 ? '[' : ',\n'}${JSON.stringify(record)}`))
      await new Promise((done) => out.once('drain', done));
  }
  await new Promise((done) => out.end(']', done));
  const hourAgo = Date.now() / 1000 - 3600;
  utimesSync(path, hourAgo, hourAgo);
}

const config = (type) => ({
  embedding_model: 'made',
  records_file: 'records.json',
  index_file: `${type}.index`,
  bm25_file: 'words.bm25',
  vector_type: type,
  fields: [
    { name: 'year', type: 'int', optional: true },
    { name: 'topic', type: 'string', optional: true },
  ],
});

/** In place of an embedding model. */
function madeModel(query) {
  const facts = { fingerprint: 'made', dimension };
  return { model: { dimension, facts, embed: async () => query } };
}

const library = () => import(join(root, 'dist/lib/index.js'));
const knowledge = () => import(join(root, 'dist/src/knowledge/index.js'));

/** Child: writes the files of one type, as buildKnowledgeBase() does. */
async function build({ folder, type, records: count, seed, efConstruction }) {
  const { Records, TextIndex, VectorIndex } = await library();
  const { indexFingerprint } = await import(join(root, 'dist/src/knowledge/model.js'));
  const path = join(folder, 'records.json');
  if (!existsSync(path)) await writeRecords(path, count, seed);
  const { fields } = config(type);
  const records = await Records.read(path, { fields });
  const vectors = await VectorIndex.build(madeVectors(count, seed, 1), dimension, {
    vectorType: type,
    efConstruction,
  });
  const fingerprint = indexFingerprint(records, madeModel(), 'error');
  await vectors.save(join(folder, `${type}.index`), { fingerprint, records });
  if (!existsSync(join(folder, 'words.bm25'))) {
    const words = await TextIndex.fromRecords(records, {});
    await words.save(join(folder, 'words.bm25'), { fingerprint: records.fingerprint });
  }
  writeFileSync(join(folder, `${type}.json`), JSON.stringify(config(type)));
}

const residentBytes = () => {
  if (!existsSync('/proc/self/status')) return { all: process.memoryUsage().rss };
  const status = readFileSync('/proc/self/status', 'utf8');
  const field = (name) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) * 1024;
  return { all: field('VmRSS'), anonymous: field('RssAnon'), file: field('RssFile'), peak: field('VmHWM') };
};

/** Child: opens, answers one hybrid query, then all dense ones. */
async function open({ folder, type, seed }) {
  const { openKnowledgeBase } = await knowledge();
  const rows = madeVectors(queries, seed, 2);
  const query = (i) => rows.subarray(i * dimension, (i + 1) * dimension);
  const log = {
    info: (facts, message) => process.stderr.write(`${message}: ${facts.reason}\n`),
    warn: console.error,
  };
  const started = performance.now();
  const kb = await openKnowledgeBase(join(folder, `${type}.json`), {
    models: async () => madeModel(query(0)),
    log,
  });
  const opened = performance.now();
  await kb.search({ text: 'w12 w3400 w77', mode: 'hybrid', topK: 10 });
  const answered = performance.now();
  const atOnce = residentBytes();
  const hits = [];
  const before = performance.now();
  for (let i = 0; i < queries; i++) {
    const found = await kb.storage.search({ vector: query(i), topK: 10 });
    hits.push(found.hits.map(({ ordinal }) => ordinal));
  }
  const perQuery = (performance.now() - before) / queries;
  const result = {
    open: opened - started,
    firstQuery: answered - started,
    perQuery,
    atOnce,
    resident: residentBytes(),
    memoryBytes: kb.storage.memoryBytes,
    hits,
  };
  await kb.close();
  return result;
}

/** Child: the ten nearest rows of every query, by comparing all. */
async function truth({ records: count, seed }) {
  const { VectorIndex } = await library();
  const index = await VectorIndex.build(madeVectors(count, seed, 1), dimension, { kind: 'flat' });
  const found = await index.searchMany(madeVectors(queries, seed, 2), { k: 10 });
  return found.map(({ ordinals }) => [...ordinals]);
}

const { values } = parseArgs({
  options: {
    records: { type: 'string', default: '500000' },
    folder: { type: 'string' },
    seed: { type: 'string', default: '1' },
    types: { type: 'string', default: 'f32,f16,i8' },
    rounds: { type: 'string', default: '3' },
    'ef-construction': { type: 'string', default: '200' },
    json: { type: 'boolean', default: false },
    step: { type: 'string' },
    type: { type: 'string' },
  },
});
const options = {
  ...values,
  records: Number(values.records),
  seed: Number(values.seed),
  efConstruction: Number(values['ef-construction']),
};

if (values.step !== undefined) {
  const result = await { build, open, truth }[values.step](options);
  process.stdout.write(JSON.stringify(result ?? null));
  process.exit(0);
}

const folder = values.folder ?? mkdtempSync(join(tmpdir(), 'lorekeep-bench-'));
mkdirSync(folder, { recursive: true });
const child = (step, type) => {
  const args = [
    '--max-old-space-size=8192',
    self,
    '--step',
    step,
    '--folder',
    folder,
    '--records',
    values.records,
    '--ef-construction',
    values['ef-construction'],
    '--seed',
    values.seed,
  ];
  if (type !== undefined) args.push('--type', type);
  const output = execFileSync(process.execPath, args, {
    maxBuffer: 1 << 28,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return JSON.parse(output);
};
const median = (numbers) => [...numbers].sort((a, b) => a - b)[numbers.length >> 1];
const megabytes = (bytes) => Math.round(bytes / 1e6);
try {
  const expected = child('truth');
  const rows = [];
  for (const type of values.types.split(',')) {
    if (!existsSync(join(folder, `${type}.json`))) child('build', type);
    const runs = Array.from({ length: Number(values.rounds) + 1 }, () => child('open', type)).slice(1);
    const [run] = runs;
    const right = run.hits.map(
      (found, i) => found.filter((ordinal) => expected[i].includes(ordinal)).length / 10,
    );
    rows.push({
      type,
      'open, ms': Math.round(median(runs.map((r) => r.open))),
      'first answer, ms': Math.round(median(runs.map((r) => r.firstQuery))),
      'index, MB': megabytes(statSync(join(folder, `${type}.index`)).size),
      'RSS, MB': megabytes(run.resident.all),
      'of it heap, MB': megabytes(run.resident.anonymous ?? 0),
      'peak RSS, MB': megabytes(run.resident.peak ?? 0),
      'recall@10': (right.reduce((sum, r) => sum + r, 0) / right.length).toFixed(4),
      'query, ms': run.perQuery.toFixed(2),
    });
  }
  const facts = {
    records: options.records,
    dimension,
    seed: options.seed,
    node: process.version,
    recordsFileMB: megabytes(statSync(join(folder, 'records.json')).size),
    sidecarMB: megabytes(statSync(join(folder, 'words.bm25')).size),
  };
  if (values.json) process.stdout.write(`${JSON.stringify({ ...facts, rows }, null, 2)}\n`);
  else {
    console.log(facts);
    console.table(rows);
  }
} finally {
  if (values.folder === undefined) rmSync(folder, { recursive: true, force: true });
}
