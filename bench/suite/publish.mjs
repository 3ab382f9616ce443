// Puts results where people read them: docs/measurements/results.json (by trial, the newest of each), the curves beside it as SVG, and the
// tables between the lines `<!-- begin NAME -->` and `<!-- end NAME -->` of the pages below, where `chart-NAME` is a curve. No number there
// is typed by hand.
//
//   node bench/suite/publish.mjs [RESULTS.json]     what `npm run bench -- --publish` does, from a file; without one, from results.json
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chartsOf } from '../charts/curves.mjs';
import { drawCharts } from '../charts/files.mjs';
import { root } from '../harness/cache.mjs';
import { markdownTable } from '../harness/table.mjs';
import { comparison } from '../whole/comparison.mjs';
import { runLines } from './run-lines.mjs';
import { trialNames } from './trials.mjs';

export const pages = [
  'docs/measurements/results.md',
  'docs/measurements/speech.md',
  'bench/README.md',
  'README.md',
];
const absent = 'Not measured yet.';
const significant = 5;

/** The campaign of reliability has a page and a publication of its own. @param records of trials that ran; trials without a result leave the published ones as they are. @returns paths written */
export function publish(records, at = root) {
  const folder = join(at, 'docs', 'measurements');
  const file = join(folder, 'results.json');
  const known = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).trials : [];
  const fresh = records.filter(({ name, tables }) => tables && name !== 'reliability').map(forPublication);
  const newest = new Map([...known, ...fresh].map((record) => [record.name, record]));
  const trials = trialNames.map((name) => newest.get(name)).filter(Boolean);
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, `${JSON.stringify({ trials }, undefined, 1)}\n`);
  const places = new Map([['run', runLines(trials)]]);
  places.set('comparison', comparison(trials));
  for (const { data, tables } of trials) {
    for (const table of tables)
      places.set(
        table.id,
        [data && `Measured on: ${data}.`, markdownTable(table)].filter(Boolean).join('\n\n'),
      );
  }
  for (const { name, title } of chartsOf(trials)) places.set(`chart-${name}`, `![${title}](${name}.svg)`);
  const written = [file, ...drawCharts(trials, folder)];
  for (const page of pages.map((name) => join(at, name)).filter(existsSync)) {
    writeFileSync(page, withPlaces(readFileSync(page, 'utf8'), places));
    written.push(page);
  }
  return written;
}

/** Without the raw measurements, and with as many digits as mean something. */
function forPublication({ detail, ...record }) {
  const short = (_, value) => (typeof value === 'number' ? Number(value.toPrecision(significant)) : value);
  return JSON.parse(JSON.stringify(record, short));
}

/** The page with each place filled; a place that nothing is known for says so. */
function withPlaces(page, places) {
  return page.replace(
    /<!-- begin ([\w-]+) -->[\s\S]*?<!-- end \1 -->/g,
    (_, name) => `<!-- begin ${name} -->\n\n${wrapped(places.get(name) ?? absent)}\n\n<!-- end ${name} -->`,
  );
}

/** Prose wraps at 100 columns; rows of tables and pictures stay whole. */
function wrapped(text) {
  const fold = (line) => line.replace(/(.{1,100})(?: |$)/g, '$1\n').trimEnd();
  return text.replace(/^[^|!\n].*$/gm, fold);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , path] = process.argv;
  const records = path ? JSON.parse(readFileSync(path, 'utf8')).trials : [];
  for (const written of publish(records)) console.log(`wrote ${written}`);
}
