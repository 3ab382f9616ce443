// Puts questions in other words: nouns, verbs, adjectives and adverbs become synonyms of WordNet 3.0 (Debian's package
// wordnet-base). The result is clumsy English, but it shares few words with the records that answer it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { tokenize } from '../../bench/lorekeep.mjs';

const parts = ['noun', 'verb', 'adj', 'adv'];
/** Endings that a lemma may lack, and what stands there instead. */
const endings = [
  ['ies', 'y'],
  ['es', ''],
  ['s', ''],
  ['ed', ''],
  ['ed', 'e'],
  ['ing', ''],
  ['ing', 'e'],
];
/** Senses of a word, the most usual ones first, that are looked at. */
const maxSenses = 3;

/** Returns a function from a text to the same in other words. `folder`: that of data.noun and index.noun. */
export function otherWords(folder) {
  const senses = new Map();
  for (const part of parts) readPart(folder, part, senses);
  const known = new Map();
  return (text) =>
    text.replace(/\b[a-z]{3,}\b/g, (word) => {
      if (!known.has(word)) known.set(word, synonymOf(word, senses));
      return known.get(word);
    });
}

/** Adds the synonyms of each lemma: senses of the part of speech in which the lemma is used most. */
function readPart(folder, part, senses) {
  const data = readFileSync(join(folder, `data.${part}`), 'latin1');
  for (const line of readFileSync(join(folder, `index.${part}`), 'latin1').split('\n')) {
    if (line === '' || line.startsWith(' ')) continue;
    const fields = line.trim().split(' ');
    const [lemma, , count, pointers] = fields;
    const used = Number(fields[5 + Number(pointers)]);
    if (lemma.includes('_') || (senses.get(lemma)?.used ?? -1) >= used) continue;
    const offsets = fields.slice(-Number(count)).slice(0, maxSenses);
    senses.set(lemma, { used, synonyms: offsets.flatMap((offset) => wordsAt(data, Number(offset))) });
  }
}

function wordsAt(data, offset) {
  const fields = data.slice(offset, data.indexOf('|', offset)).split(' ');
  const count = Number.parseInt(fields[3], 16);
  return Array.from({ length: count }, (_, at) => fields[4 + 2 * at].replace(/\(.*\)/, ''));
}

/** Returns a synonym with another stem; the word itself if there is none. */
function synonymOf(word, senses) {
  const [stem] = tokenize(word, 'enhanced');
  if (stem === undefined) return word;
  const forms = [
    [word, ''],
    ...endings
      .filter(([end]) => word.endsWith(end))
      .map(([end, instead]) => [word.slice(0, -end.length) + instead, end]),
  ];
  for (const [lemma, end] of forms) {
    const found = senses
      .get(lemma)
      ?.synonyms.find((other) => /^[a-z]{3,}$/.test(other) && tokenize(other, 'enhanced')[0] !== stem);
    if (found !== undefined) return inflected(found, end);
  }
  return word;
}

function inflected(lemma, end) {
  if (end === '') return lemma;
  if (end.endsWith('s')) return lemma.endsWith('s') ? lemma : `${lemma}s`;
  return lemma.endsWith('e') ? lemma.slice(0, -1) + end : lemma + end;
}
