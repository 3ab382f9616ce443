// The retrieval test collections: documents, queries and judgments, read from LOREKEEP_DATA.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { dataFolder } from '../harness/cache.mjs';

const collections = {
  'scifact-train': { folder: 'scifact', judgments: 'qrels-train.tsv.gz' },
  scifact: { folder: 'scifact', judgments: 'qrels-test.tsv.gz' },
  cranfield: { folder: 'cranfield', judgments: 'qrels.tsv.gz' },
  cisi: { folder: 'cisi', judgments: 'qrels.tsv.gz' },
  'xquad-en': { folder: 'xquad/en', judgments: 'qrels.tsv.gz' },
};

/** Each is a collection `xquad-LANGUAGE`. */
export const xquadLanguages = ['ar', 'de', 'el', 'en', 'es', 'hi', 'ro', 'ru', 'th', 'tr', 'vi', 'zh'];

export const collectionNames = Object.keys(collections);

export function collectionsPresent() {
  return existsSync(join(dataFolder, 'ir', 'scifact', 'corpus.jsonl.gz'));
}

/**
 * One collection: its folder, documents {id, text} (title and text in one), judged queries {id, text}, and
 * judgments: query id -> document id -> gain (linear, as judged). `otherFolder` is read instead of LOREKEEP_DATA/ir.
 */
export function readCollection(name, otherFolder) {
  const xquad = xquadLanguages.find((language) => name === `xquad-${language}`);
  const found = otherFolder
    ? { folder: name, judgments: 'qrels.tsv.gz' }
    : (collections[name] ?? (xquad && { folder: `xquad/${xquad}`, judgments: 'qrels.tsv.gz' }));
  if (!found) throw new Error(`${name}: no such collection; there are ${collectionNames.join(', ')}`);
  const { folder, judgments } = found;
  const file = (leaf) =>
    gunzipSync(readFileSync(join(otherFolder ?? join(dataFolder, 'ir'), folder, leaf))).toString('utf8');
  const gains = new Map();
  for (const line of file(judgments).trimEnd().split('\n').slice(1)) {
    const [query, document, gain] = line.split('\t');
    if (!gains.has(query)) gains.set(query, new Map());
    gains.get(query).set(document, Number(gain));
  }
  const rows = (leaf) =>
    file(leaf)
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  const documents = rows('corpus.jsonl.gz').map(({ id, title, text }) => ({
    id,
    text: title ? `${title} ${text}` : text,
  }));
  const queries = rows('queries.jsonl.gz')
    .filter(({ id }) => gains.has(id))
    .map(({ id, text }) => ({ id, text }));
  return { name, folder, documents, queries, gains };
}
