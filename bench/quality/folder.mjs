// Do the chunks of `lorekeep index` retrieve as well as records that were cut by hand?
//
//   node bench/quality/folder.mjs [--set tune|report] [--sizes 600,1200] [--overlaps 0,150] [--model all-MiniLM-L6-v2]
//
// A collection is written as Markdown files, indexed, and searched in hybrid mode with the defaults; and so are its hand-cut
// records, in a knowledge base of the same settings.
//   cranfield, cisi, scifact: a file and a record per abstract. A file is ranked by its best chunk: nDCG@10.
//   xquad-en: an article of five paragraphs per file, a paragraph per record; docs: the pages of docs/ and the passages of the
//     demonstration (`npm start`). A hit counts if it comes from the right page and holds the answer: the reciprocal rank, and
//     the share of questions answered within the first 2,000 characters of the hits, which does not favour long chunks.
// Sizes were chosen on `tune` and are reported on `report`. Caveat: one machine, no times.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { chunksOf } from '../../dist/src/documents/chunks.js';
import { readMarkdown } from '../../dist/src/documents/formats/markdown/markdown.js';
import { dataFolder } from '../harness/cache.mjs';
import { commandLine } from '../harness/command-line.mjs';
import { buildKnowledgeBase, CatalogModels, openKnowledgeBase } from '../lorekeep.mjs';
import { readCollection } from './collections.mjs';
import { interval } from './confidence.mjs';
import { mean, ndcg } from './measures.mjs';
import { splitMarkdown } from './paragraphs.mjs';

const project = join(import.meta.dirname, '../..');
const sets = { tune: ['cranfield', 'xquad-en'], report: ['cisi', 'scifact', 'docs'] };
/** Characters of hits that somebody reads, or a prompt takes. */
const budget = 2000;

const { values: flags } = commandLine({
  options: {
    set: { type: 'string', default: 'report' },
    sizes: { type: 'string', default: '1200' },
    overlaps: { type: 'string', default: '0' },
    model: { type: 'string', default: 'all-MiniLM-L6-v2' },
  },
});

const rows = (...names) =>
  gunzipSync(readFileSync(join(dataFolder, 'ir', ...names)))
    .toString('utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

/** Abstracts: files, hand-cut records {id, path, text}, and the measure of ranked hits of one query. */
function abstracts(name) {
  const { folder, queries, gains } = readCollection(name);
  const documents = rows(folder, 'corpus.jsonl.gz').filter(({ text }) => text.trim() !== '');
  return {
    files: documents.map(({ id, title, text }) => ({
      path: `${id}.md`,
      text: title ? `# ${title}\n\n${text}\n` : text,
    })),
    records: documents.map(({ id, title, text }) => ({
      path: `${id}.md`,
      text: title ? `${title}\n\n${text}` : text,
    })),
    questions: queries.map(({ id, text }) => ({
      text,
      measures: (hits) => {
        const pages = [...new Set(hits.map(({ path }) => path.slice(0, -'.md'.length)))];
        return { 'nDCG@10': ndcg(pages, gains.get(id)) };
      },
    })),
  };
}

/** The hits that begin within that many characters. */
function firstCharacters(hits, characters) {
  let read = 0;
  return hits.filter(({ text }) => {
    const begins = read;
    read += text.length;
    return begins < characters;
  });
}

function answered(question, path, answer) {
  const found = answer.toLowerCase().replace(/\s+/g, ' ');
  return {
    text: question,
    measures: (hits) => {
      const holds = ({ path: at, text }) =>
        at === path && text.toLowerCase().replace(/\s+/g, ' ').includes(found);
      const rank = hits.slice(0, 10).findIndex(holds);
      const within = firstCharacters(hits, budget);
      return { 'MRR@10': rank < 0 ? 0 : 1 / (rank + 1), [`within ${budget}`]: within.some(holds) ? 1 : 0 };
    },
  };
}

function xquad() {
  const paragraphs = rows('xquad', 'en', 'corpus.jsonl.gz');
  const { gains } = readCollection('xquad-en');
  const pathOf = new Map(
    paragraphs.map(({ id, topic_en }) => [id, `${topic_en.replaceAll(/\W+/g, '_')}.md`]),
  );
  const articles = Map.groupBy?.(paragraphs, ({ id }) => pathOf.get(id)) ?? grouped(paragraphs, pathOf);
  return {
    files: [...articles].map(([path, parts]) => ({
      path,
      text: `# ${parts[0].topic_en}\n\n${parts.map(({ text }) => text).join('\n\n')}\n`,
    })),
    records: paragraphs.map(({ id, text, topic_en }) => ({
      path: pathOf.get(id),
      text: `${topic_en}\n\n${text}`,
    })),
    questions: rows('xquad', 'en', 'queries.jsonl.gz').map(({ id, text, answer }) =>
      answered(text, pathOf.get([...gains.get(id).keys()][0]), answer),
    ),
  };
}

function grouped(paragraphs, pathOf) {
  const groups = new Map();
  for (const each of paragraphs) {
    const path = pathOf.get(each.id);
    groups.set(path, [...(groups.get(path) ?? []), each]);
  }
  return groups;
}

function docs() {
  const names = readdirSync(join(project, 'docs'), { recursive: true }).filter((name) =>
    name.endsWith('.md'),
  );
  const files = names.map((path) => ({ path, text: readFileSync(join(project, 'docs', path), 'utf8') }));
  const questions = readFileSync(join(import.meta.dirname, 'docs-questions.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const isAnswered = ({ page, answer }) =>
    files
      .find(({ path }) => path === page)
      ?.text.replace(/\s+/g, ' ')
      .toLowerCase()
      .includes(answer.toLowerCase());
  const lost = questions.filter((question) => !isAnswered(question));
  for (const { page, answer } of lost) console.log(`left out: ${page} no longer says "${answer}"`);
  return {
    files,
    records: files.flatMap(({ path, text }) => splitMarkdown(text).map((part) => ({ path, text: part }))),
    questions: questions
      .filter(isAnswered)
      .map(({ question, page, answer }) => answered(question, page, answer)),
  };
}

const read = (name) => (name === 'docs' ? docs() : name === 'xquad-en' ? xquad() : abstracts(name));

async function chunkRecords(files, options, model) {
  const { contextSize } = model.facts;
  const fits = async (text) => {
    const isShort = Buffer.byteLength(text) + 3 <= contextSize;
    return isShort || (await model.countTokens(text)) <= contextSize ? 'fits' : 'too long';
  };
  const records = [];
  for (const { path, text } of files) {
    for await (const chunk of chunksOf(readMarkdown(text), options, fits))
      records.push({ path, text: chunk.text });
  }
  return records;
}

/** Searches every question and returns the measures of each. */
async function measure(records, questions, models, folder) {
  mkdirSync(folder, { recursive: true });
  const lines = records.map(({ path, text }, at) => ({ id: String(at), text, metadata: { path } }));
  writeFileSync(join(folder, 'records.json'), JSON.stringify(lines));
  const config = {
    embedding_model: flags.model,
    records_file: 'records.json',
    index_file: 'kb.index',
    bm25_tokenizer: 'enhanced',
    search: { mode: 'hybrid', fusion: 'scores' },
    long_text: 'truncate',
    fields: [{ name: 'path', type: 'string', optional: true }],
  };
  const file = join(folder, 'kb.json');
  writeFileSync(file, JSON.stringify({ ...config, embeddings_file: 'kb.embeddings' }));
  await buildKnowledgeBase(file, { models });
  const kb = await openKnowledgeBase(file, { models });
  const found = [];
  for (const { text, measures } of questions) {
    const { hits } = await kb.search({ text, topK: 50 });
    found.push(measures(hits.map((hit) => ({ path: hit.metadata.path, text: hit.text }))));
  }
  await kb.close();
  return found;
}

function report(name, what, records, measured, base) {
  const characters = Math.round(mean(records.map(({ text }) => text.length)));
  for (const measure of Object.keys(measured[0])) {
    const values = measured.map((each) => each[measure]);
    const value = mean(values).toFixed(3);
    const difference =
      base && interval(values.map((each, at) => each - base[at][measure])).map((end) => end.toFixed(3));
    const compared = difference ? `  difference ${difference.join(' to ')}` : '';
    console.log(
      `${name.padEnd(10)} ${what.padEnd(22)} ${String(records.length).padStart(6)} x ${String(characters).padStart(4)}  ${measure.padEnd(12)} ${value}${compared}`,
    );
  }
}

const models = await CatalogModels.open();
const lease = await (await models.resolve(flags.model)).lease();
const scratch = mkdtempSync(join(tmpdir(), 'lorekeep-folder-'));
try {
  for (const name of sets[flags.set] ?? [flags.set]) {
    const { files, records, questions } = read(name);
    console.log(`${name}: ${files.length} files, ${questions.length} questions, ${flags.model}`);
    const base = await measure(records, questions, models, join(scratch, name, 'hand'));
    report(name, 'hand-cut', records, base);
    for (const size of flags.sizes.split(',').map(Number)) {
      for (const overlap of flags.overlaps.split(',').map(Number)) {
        const cut = await chunkRecords(files, { size, overlap }, lease.model);
        const measured = await measure(cut, questions, models, join(scratch, name, `${size}-${overlap}`));
        report(name, `chunks of ${size}, ${overlap}`, cut, measured, base);
      }
    }
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
  lease[Symbol.dispose]();
  await models.close();
}
