// The time from the last write to a watched folder until its texts are searchable: in a knowledge base that follows the change log,
// as another process has it, beside the watch of an index of some thousand texts.
//
//   node bench/storage/watch-latency.mjs [--texts 3000] [--changed 100] [--rounds 7] [--model all-MiniLM-L6-v2] [--markdown]
//
// Each round writes --changed files of one text one after another, half of them new and half changed, and waits until the reader
// lists all their texts and finds the last one. Then the model alone embeds as many other texts of that length, as a control. The
// target is two seconds at 100 changed texts. Texts are 60 words made from a seed. The reader shares the process with the watch.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openKnowledgeBase, watchFolder } from '../../dist/src/knowledge/index.js';
import { CatalogModels } from '../../dist/src/models/catalog-models.js';
import { load, machine } from '../harness/machine.mjs';
import { markdownTable, terminalTable } from '../harness/table.mjs';

const { values } = parseArgs({
  options: {
    texts: { type: 'string', default: '3000' },
    changed: { type: 'string', default: '100' },
    rounds: { type: 'string', default: '7' },
    model: { type: 'string', default: 'all-MiniLM-L6-v2' },
    markdown: { type: 'boolean', default: false },
  },
});
const [texts, changed, rounds] = [values.texts, values.changed, values.rounds].map(Number);

const words = 'bee ice tea lamp eel oak owl fox stone river harbour ferry bread glacier valley hive'.split(
  ' ',
);
let seed = 36;
const pick = () => {
  seed = (seed * 48_271) % 2_147_483_647;
  return words[seed % words.length];
};
const passage = (name) => `${name}: ${Array.from({ length: 60 }, pick).join(' ')}.\n`;

const place = mkdtempSync(join(tmpdir(), 'lorekeep-watch-'));
process.env.LOREKEEP_STATE = join(place, 'state');
const folder = join(place, 'docs');
const write = (n, name) => writeFileSync(join(folder, `${n % 50}`, `${n}.md`), passage(name));
for (let part = 0; part < 50; part++) mkdirSync(join(folder, `${part}`), { recursive: true });
for (let n = 0; n < texts; n++) write(n, `first ${n}`);

const models = await CatalogModels.open();
const ending = new AbortController();
let watching;
const index = await new Promise((resolve, reject) => {
  watching = watchFolder({
    folder,
    models,
    model: values.model,
    onIndex: resolve,
    signal: ending.signal,
  });
  watching.catch(reject);
});
const lease = await (await models.resolve(values.model)).lease();
const reader = await openKnowledgeBase(index.config, { models, readOnly: true });

/** Resolves when the reader has all texts that begin with the mark, and finds the last one. */
async function searchable(mark) {
  for (let seen = -1; ; ) {
    if (reader.version !== seen) {
      seen = reader.version;
      const records = await reader.list({ limit: 10_000 });
      if (records.filter(({ text }) => text.includes(`${mark} text `)).length === changed) break;
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const { hits } = await reader.search({ text: `${mark} text ${changed - 1}`, topK: 1, minBest: 0 });
  if (hits.length === 0) throw new Error('nothing is found');
}

/** Returns the milliseconds that the model takes for as many other texts. */
async function embedding(mark) {
  const other = Array.from({ length: changed }, (_, n) => passage(`${mark} other ${n}`));
  const started = performance.now();
  await lease.model.embed(other);
  return performance.now() - started;
}

/** Writes the files and returns the milliseconds until all are searchable. */
async function round(number) {
  const mark = `round ${number}`;
  for (let n = 0; n < changed; n++)
    write(n % 2 === 0 ? (number * changed + n) % texts : texts + number * changed + n, `${mark} text ${n}`);
  const written = performance.now();
  await searchable(mark);
  return performance.now() - written;
}

const times = [];
const alone = [];
for (let number = 0; number < rounds; number++) {
  times.push(await round(number));
  alone.push(await embedding(`round ${number}`));
}
const middle = (list) => list.toSorted((a, b) => a - b)[Math.floor(rounds / 2)];
const table = {
  title: `From the last write to the search: ${index.records} texts, ${changed} of them changed, ${values.model}`,
  columns: [
    { key: 'rounds', label: 'rounds', digits: 0 },
    { key: 'median', label: 'median ms', digits: 0 },
    { key: 'longest', label: 'longest ms', digits: 0 },
    { key: 'embedding', label: 'embedding alone, median ms', digits: 0 },
  ],
  rows: [{ rounds, median: middle(times), longest: Math.max(...times), embedding: middle(alone) }],
};
console.log(JSON.stringify({ ...machine(), load: load() }));
console.log(values.markdown ? markdownTable(table) : terminalTable(table));
await reader.close();
lease[Symbol.dispose]();
ending.abort();
await watching;
await models.close();
rmSync(place, { recursive: true, force: true });
