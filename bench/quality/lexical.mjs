// Retrieval quality of lexical search: nDCG@10 and recall@100 of lorekeep's tokenizers and of the peers' full-text search,
// on every collection, title and text in one document. The whole query is given; any of its words may match.
//
//   node bench/quality/lexical.mjs [--only scifact,xquad-zh] [--engines lorekeep,sqlite] [--json FILE]
import { writeFileSync } from 'node:fs';
import { dataFolder } from '../harness/cache.mjs';
import { commandLine } from '../harness/command-line.mjs';
import { collectionNames, collectionsPresent, readCollection, xquadLanguages } from './collections.mjs';
import { mean, ndcg, recall } from './measures.mjs';

const depth = 100;

/** Name -> engine and its options. An engine is loaded when it is wanted: not everyone has installed the peers. */
const configurations = {
  'lorekeep basic': ['lorekeep', { tokenizer: 'basic' }],
  'lorekeep enhanced': ['lorekeep', { tokenizer: 'enhanced' }],
  'lorekeep multilingual': ['lorekeep', { tokenizer: 'multilingual' }],
  'sqlite unicode61': ['sqlite', {}],
  'sqlite porter': ['sqlite', { tokenizer: 'porter unicode61' }],
  minisearch: ['minisearch', {}],
  'lancedb default': ['lancedb', {}],
  'lancedb simple': ['lancedb', { stem: false, removeStopWords: false }],
};

const { values: options } = commandLine({
  options: { only: { type: 'string' }, engines: { type: 'string' }, json: { type: 'string' } },
});

if (!collectionsPresent()) {
  console.log(
    `bench/quality: left out, no collections under ${dataFolder}; LOREKEEP_DATA names their folder`,
  );
  process.exit(0);
}
const otherLanguages = xquadLanguages.map((language) => `xquad-${language}`);
const names = options.only?.split(',') ?? [...new Set([...collectionNames, ...otherLanguages])];
const wanted = options.engines?.split(',');
const engines = Object.keys(configurations).filter(
  (name) => wanted?.some((part) => name.includes(part)) ?? true,
);
const results = [];
console.log(line(['collection', ...engines]));
console.log(line(['---', ...engines.map(() => '---')]));
for (const name of names) {
  const collection = readCollection(name);
  const row = [];
  for (const engine of engines) {
    const scores = await measure(collection, configurations[engine]);
    results.push({ collection: name, engine, ...scores });
    row.push(`${scores.ndcg.toFixed(3)} / ${scores.recall.toFixed(3)}`);
  }
  console.log(line([name, ...row]));
}
if (options.json) writeFileSync(options.json, `${JSON.stringify(results, undefined, 2)}\n`);

async function measure({ documents, queries, gains }, [name, settings]) {
  const { [name]: build } = await import(`../text/engines/${name}.mjs`);
  const engine = await build(
    documents.map(({ text }) => text),
    settings,
  );
  const scores = [];
  for (const { id, text } of queries) {
    const ranked = (await engine.search(text, depth)).map((row) => documents[row].id);
    scores.push([ndcg(ranked, gains.get(id)), recall(ranked, gains.get(id), depth)]);
  }
  await engine.close();
  return { ndcg: mean(scores.map(([gain]) => gain)), recall: mean(scores.map(([, share]) => share)) };
}

function line(cells) {
  return `| ${cells.join(' | ')} |`;
}
