// The cost of masks: the tokens that a JSON Schema allows, found before every token of a reply, beside llama.cpp's
// grammars and, where they can be imported by the Python in LOREKEEP_BENCH_PYTHON, xgrammar and llguidance.
//
//   node bench/grammar/grammar.mjs MODEL.gguf
//
// Needs lorekeep_grammar_bench:
//   cmake -DLOREKEEP_BENCH=ON .cmake/release && cmake --build .cmake/release --target lorekeep_grammar_bench
//
// Times are processor time of one thread. lorekeep and llama.cpp get the same GBNF, which lorekeep makes of the schema;
// the others get the schema. Pass 1 is the first reply of a schema, pass 2 a later one of the same server: lorekeep
// keeps masks between replies, llguidance and llama.cpp keep none, xgrammar computes most of them while it compiles.
// Caveats: lorekeep itself computes a mask only after a refused token was drawn, so this is its worst case; llama.cpp's
// and lorekeep's times contain applying the mask to the logits, the others' do not; those of the Python packages
// contain a call from Python (about a microsecond). The last column is the share of a decoding step of the model, on one
// thread, in processor time as well.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { LanguageModel } from '../../dist/lib/index.js';
import { schemaGrammar } from '../../dist/lib/internal.js';
import { cases } from './schemas.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(here, '../..');
const { positionals } = parseArgs({ allowPositionals: true });
if (positionals.length !== 1) throw new Error('usage: node bench/grammar/grammar.mjs MODEL.gguf');
const model = resolve(positionals[0]);

const folder = mkdtempSync(join(tmpdir(), 'lorekeep-grammar-'));
try {
  await writeCases();
  const vocabulary = join(folder, 'vocabulary');
  const program = join(root, '.cmake/release/bench/grammar/lorekeep_grammar_bench');
  const rows = [
    ...lines(program, [join(root, 'build/Release'), model, folder, vocabulary]),
    ...lines(process.env.LOREKEEP_BENCH_PYTHON ?? 'python3', [join(here, 'peers.py'), vocabulary, folder]),
  ];
  print(rows, await stepUs());
} finally {
  rmSync(folder, { recursive: true });
}

async function writeCases() {
  for (const [name, { schema, value }] of Object.entries(cases)) {
    writeFileSync(join(folder, `${name}.gbnf`), await schemaGrammar(schema));
    writeFileSync(join(folder, `${name}.json`), JSON.stringify(schema));
    writeFileSync(join(folder, `${name}.txt`), JSON.stringify(value));
  }
}

function lines(program, args) {
  const { stdout, stderr, error } = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 2 ** 28 });
  if (error !== undefined) throw error;
  process.stderr.write(stderr);
  return stdout
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [engine, name, pass, , compile, ...times] = line.split('\t');
      return { engine, name, pass: Number(pass), compile: Number(compile), times: times.map(Number) };
    });
}

/** Processor time of a decoding step in microseconds. */
async function stepUs() {
  const loaded = await LanguageModel.load(model, { threads: 1, batchThreads: 1, contextSize: 512 });
  const reply = (maxTokens) =>
    loaded.generate({ prompt: 'Once upon a time', maxTokens, drafts: false, seed: 1 }).result;
  await reply(8);
  const before = process.cpuUsage();
  const { usage } = await reply(64);
  const { user, system } = process.cpuUsage(before);
  await loaded.close();
  return (user + system) / usage.completion;
}

function print(rows, step) {
  console.log(`a decoding step takes ${(step / 1000).toFixed(1)} ms\n`);
  const mean = (times) => times.reduce((sum, time) => sum + time, 0) / times.length;
  console.log(
    `| engine | pass | replies | compile, ms | mean, µs per token | 99 % | most | share of a step |`,
  );
  console.log(`|---|--:|--:|--:|--:|--:|--:|--:|`);
  for (const engine of [...new Set(rows.map((row) => row.engine))]) {
    for (const pass of [1, 2]) {
      const own = rows.filter((row) => row.engine === engine && row.pass === pass);
      const times = own.flatMap((row) => row.times).sort((a, b) => a - b);
      if (times.length === 0) continue;
      const compile = mean(own.map((row) => row.compile)) / 1000;
      const cells = [
        engine,
        pass,
        own.length,
        compile.toFixed(2),
        mean(times).toFixed(1),
        times[Math.floor(0.99 * times.length)].toFixed(0),
        times.at(-1).toFixed(0),
        `${((100 * mean(times)) / step).toFixed(2)} %`,
      ];
      console.log(`| ${cells.join(' | ')} |`);
    }
  }
}
