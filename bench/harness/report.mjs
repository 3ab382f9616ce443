// Tables for people, JSON for programs: bench/results/<name>.json, not committed.
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = join(dirname(fileURLToPath(import.meta.url)), '..', 'results');

export function machine() {
  return {
    cpu: cpus()[0]?.model.trim(),
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    load: loadavg().map((value) => Number(value.toFixed(2))),
    date: new Date().toISOString(),
  };
}

/** Prints rows of equal keys as a Markdown table. */
export function printTable(rows) {
  if (rows.length === 0) return;
  const keys = Object.keys(rows[0]);
  const lines = [
    keys,
    keys.map(() => '---'),
    ...rows.map((row) => keys.map((key) => String(row[key] ?? ''))),
  ];
  for (const line of lines) console.log(`| ${line.join(' | ')} |`);
}

export function writeResults(name, content) {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${name}.json`);
  writeFileSync(path, `${JSON.stringify({ machine: machine(), ...content }, null, 1)}\n`);
  console.log(`\n${path}`);
}
