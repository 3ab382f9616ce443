// Training collections made of corpus-large: chunks of documentation and textbooks, asked for by their headings, by real
// questions (MedQuAD), or by one of their sentences, which is then removed from the chunk; and questions about subjects that
// a collection does not have. Only the first rows of the file
// are read: its rows are shuffled.
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createGunzip } from 'node:zlib';
import { dataFolder } from '../../bench/harness/cache.mjs';

const rowsRead = 120_000;
const documentsOfASet = 1200;
const queriesOfASet = 300;

// lorekeep-mini was trained on all sources but those under share-alike licences: aws, symfony, owasp.
const sets = {
  'medquad-questions': { source: /^medquad$/, ask: heading },
  'aws-headings': { source: /^aws-/, ask: titleAndHeading },
  'aws-sentences': { source: /^aws-/, ask: sentence },
  'web-headings': { source: /^(symfony|owasp)$/, ask: titleAndHeading },
  'web-sentences': { source: /^(symfony|owasp)$/, ask: sentence },
  'textbook-headings': { source: /^openstax-/, ask: titleAndHeading },
  'textbook-sentences': { source: /^openstax-/, ask: sentence },
};

/** Questions about subjects that the documents do not have. */
const absent = {
  'web-absent': { documents: 'web-headings', queries: 'medquad-questions' },
  'medquad-absent': { documents: 'medquad-questions', queries: 'web-headings' },
};

export const trainingSetNames = [...Object.keys(sets), ...Object.keys(absent)];

let rows;

/** Returns a set as bench/quality/collections.mjs returns a collection. */
export async function readTrainingSet(name) {
  if (name in absent) {
    const { folder, documents } = await readTrainingSet(absent[name].documents);
    const { queries } = await readTrainingSet(absent[name].queries);
    return { name, folder, documents, queries, gains: new Map() };
  }
  const { source, ask } = sets[name];
  rows ??= await firstRows();
  const random = randomNumbers(name);
  const documents = [];
  const asked = new Map(); // query text -> ids of the documents that it was made of
  for (const row of rows.filter((one) => source.test(one.source)).slice(0, documentsOfASet)) {
    const { text, query } = ask(row, random);
    documents.push({ id: row.id, text });
    if (query && query.split(' ').length >= 3) asked.set(query, [...(asked.get(query) ?? []), row.id]);
  }
  const chosen = [...asked]
    .map((entry) => ({ entry, key: random() }))
    .sort((a, b) => a.key - b.key)
    .slice(0, queriesOfASet);
  const gains = new Map();
  const queries = chosen.map(({ entry: [text, ids] }, i) => {
    gains.set(`${i}`, new Map(ids.map((id) => [id, 1])));
    return { id: `${i}`, text };
  });
  return { name, folder: name, documents, queries, gains };
}

async function firstRows() {
  const found = [];
  const file = createReadStream(join(dataFolder, 'corpus-large.jsonl.gz'));
  const wanted = Object.values(sets);
  let read = 0;
  for await (const line of createInterface({ input: file.pipe(createGunzip()) })) {
    if (++read > rowsRead) break;
    const row = JSON.parse(line);
    if (wanted.some(({ source }) => source.test(row.source))) found.push(row);
  }
  file.destroy();
  return found;
}

function heading({ text, heading }) {
  return { text, query: heading };
}

function titleAndHeading({ text, title, heading }) {
  const last = heading.split(' > ').at(-1);
  return { text, query: last === title ? title : `${title} ${last}` };
}

function sentence({ text }, random) {
  const all = text.match(/[^.!?]+[.!?]+(\s|$)/g) ?? [];
  const long = all.filter((one) => one.split(/\s+/).length >= 8 && one.length < 300);
  if (all.length < 4 || long.length === 0) return { text, query: undefined };
  const chosen = long[Math.floor(random() * long.length)];
  return { text: text.replace(chosen, ''), query: chosen.trim() };
}

/** Returns a generator of numbers in [0, 1) seeded with a text: mulberry32. */
function randomNumbers(seed) {
  let state = [...seed].reduce((sum, letter) => (Math.imul(sum, 31) + letter.charCodeAt(0)) | 0, 7);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
