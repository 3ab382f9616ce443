// Time of extended queries with many operators over long texts, on one search thread, and how it grows with the clauses and the texts.
//
//   node bench/text/operators.mjs [--megabytes 5] [--length 200000] [--rounds 3] [--tokenizer enhanced] [--markdown]
//
// Texts of --length characters are joined from those of harness/texts.mjs until there are --megabytes, and ten times as many. Clauses are
// drawn from texts that are not among them: beginnings of words, and pairs of words in reverse, which exclude few texts. Rows are queries
// of 10, 50 and 200 clauses of one kind beside one word, which every text has. If each clause read the texts, 200 clauses would take 20
// times as long as 10.
import { parseArgs } from 'node:util';
import { load, machine } from '../harness/machine.mjs';
import { median, Random } from '../harness/numbers.mjs';
import { markdownTable, terminalTable } from '../harness/table.mjs';
import { readTexts, textSource } from '../harness/texts.mjs';
import { Storage } from '../lorekeep.mjs';

const { values } = parseArgs({
  options: {
    megabytes: { type: 'string', default: '5' },
    length: { type: 'string', default: '200000' },
    rounds: { type: 'string', default: '3' },
    tokenizer: { type: 'string', default: 'enhanced' },
    markdown: { type: 'boolean', default: false },
  },
});
const [megabytes, length, rounds] = [values.megabytes, values.length, values.rounds].map(Number);
const clauses = [10, 50, 200];
const common = 'everywhere';
const random = new Random(36);

const kinds = [
  { name: 'prefixes', clause: ([word]) => `${word.slice(0, 4)}*` },
  { name: 'excluded prefixes', clause: ([word]) => `-${word.slice(0, 5)}*` },
  { name: 'excluded phrases', clause: ([first, second]) => `-"${second} ${first}"` },
  { name: 'excluded open phrases', clause: ([first, second]) => `-${second}-${first.slice(0, 4)}*` },
];

/** Texts of some megabytes. */
function longTexts(passages, bytes) {
  const texts = [];
  for (let at = 0, total = 0; total < bytes; total += length) {
    let text = common;
    while (text.length < length) text += ` ${passages[at++ % passages.length]}`;
    texts.push(text);
  }
  return texts;
}

/** Pairs of neighbours, of letters alone. */
function pairsOf(texts) {
  const words = texts.flatMap((text) => text.split(/\s+/)).filter((word) => /^[a-z]{5,}$/.test(word));
  return Array.from({ length: Math.max(...clauses) }, () => {
    const at = random.integer(words.length - 1);
    return words.slice(at, at + 2);
  });
}

const { texts: passages } = await readTexts(24_000);
const pairs = pairsOf(passages.slice(-2000));
const rows = [];
for (const times of [1, 10]) {
  const texts = longTexts(passages.slice(0, -2000), times * megabytes * 1e6);
  const records = texts.map((text, id) => ({ id: String(id), text }));
  const vectors = new Float32Array(records.length).fill(1);
  const storage = await Storage.build(records, vectors, 1, { tokenizer: values.tokenizer });
  const ask = async (text) => {
    const begin = performance.now();
    const { hits } = await storage.search({ mode: 'lexical', text, lexical: { querySyntax: 'extended' } });
    return { ms: performance.now() - begin, hits: hits.length };
  };
  await ask(common);
  const asked = kinds.flatMap(({ name, clause }) =>
    clauses.map((count) => ({ name, count, text: [common, ...pairs.slice(0, count).map(clause)].join(' ') })),
  );
  const measured = new Map(asked.map((query) => [query, []]));
  for (let round = 0; round < rounds; round++)
    for (const query of asked) measured.get(query).push((await ask(query.text)).ms);
  for (const [{ name, count }, ms] of measured)
    rows.push({ texts: `${times * megabytes} MB, ${name}`, count: String(count), ms: median(ms) });
  await storage.close();
}
const table = {
  title: `Extended queries, tokenizer ${values.tokenizer}`,
  columns: [
    { key: 'texts', label: 'texts, clauses' },
    { key: 'count', label: 'number' },
    { key: 'ms', label: 'ms', digits: 1 },
  ],
  rows,
  note: `${textSource()}; texts of ${length} characters; ${machine().cpu}, load ${load()}`,
};
console.log(values.markdown ? markdownTable(table) : terminalTable(table));
