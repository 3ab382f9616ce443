// Queries that no record answers, of several kinds, drawn from a seed.
import { createReadStream, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createGunzip, gunzipSync } from 'node:zlib';
import { dataFolder } from '../harness/cache.mjs';
import { Random } from '../harness/numbers.mjs';

const rowsRead = 4000;
const keyboard = ['qwertyuiop', 'asdfghjkl', 'zxcvbnm', '1234567890', 'poiuytrewq', 'lkjhgfdsa'];
const [onsets, vowels, codas] = [
  'bl b d f fn g gr k kl m n p pl qu sk sn t tr v w z',
  'a e i o u oo ee',
  ' n rp x b lk nk g ft',
].map((list) => list.split(' '));
const subjects =
  'unicorn toaster grandmother sandwich trampoline moustache banana submarine slipper hamster pillow saxophone'.split(
    ' ',
  );
const questions = [
  (a) => `where is my ${a} parked?`,
  (a, b) => `why does the ${a} dislike my ${b}?`,
  (a, b) => `how many ${a}s fit into a ${b}?`,
  (a) => `can I marry a ${a} on Tuesdays?`,
  (a, b) => `what colour is the ${a} of your ${b}?`,
  (a) => `please sing about a ${a}`,
  (a, b) => `best ${a} for my ${b}`,
  (a, b) => `did the ${a} eat the ${b} again?`,
];
/** Languages of the Universal Declaration of Human Rights that no collection has. */
const otherLanguages =
  'fin hun swh jpn kor tam amh kat est eus isl khm lao mlt mon nav pol som tgl wol yor zul'.split(' ');

export const nonsenseKinds = ['letters', 'keys', 'syllables', 'words', 'absurd', 'other language'];

/** `count` queries of each kind: {kind, text}. `alphabet`: letters of the collection; `words`: words of another subject. */
export function nonsense(seed, count, { alphabet, words }) {
  const random = new Random(seed);
  const one = (list) => list[random.integer(list.length)];
  const between = (low, high) => low + random.integer(high - low + 1);
  const several = (low, high, make) => Array.from({ length: between(low, high) }, make).join(' ');
  const run = () => {
    const row = one(keyboard);
    const start = random.integer(row.length - 3);
    return row.slice(start, start + between(3, 6));
  };
  const make = {
    letters: () => several(1, 4, () => Array.from({ length: between(3, 8) }, () => one(alphabet)).join('')),
    keys: () => several(1, 4, () => run() + (random.uniform() < 0.3 ? run() : '')),
    syllables: () =>
      several(1, 5, () =>
        Array.from({ length: between(1, 3) }, () => one(onsets) + one(vowels) + one(codas)).join(''),
      ),
    words: () => several(2, 6, () => one(words)),
    absurd: () => one(questions)(one(subjects), one(subjects)),
    'other language': () => one(declarations()).split(' ').slice(0, between(4, 9)).join(' ').slice(0, 60),
  };
  return nonsenseKinds.flatMap((kind) => Array.from({ length: count }, () => ({ kind, text: make[kind]() })));
}

/** The letters of texts that occur at least once in 10,000. */
export function alphabetOf(texts) {
  const counts = new Map();
  let all = 0;
  for (const text of texts) {
    for (const letter of text.toLowerCase()) {
      if (!/\p{L}/u.test(letter)) continue;
      counts.set(letter, (counts.get(letter) ?? 0) + 1);
      all++;
    }
  }
  return [...counts].filter(([, count]) => count * 10_000 >= all).map(([letter]) => letter);
}

/** Different words of at least four letters, of English texts about programs, law and nature. */
export async function otherWords() {
  const words = new Set();
  const lines = createInterface({
    input: createReadStream(join(dataFolder, 'corpus-large.jsonl.gz')).pipe(createGunzip()),
  });
  let rows = 0;
  for await (const line of lines) {
    for (const word of JSON.parse(line)
      .text.toLowerCase()
      .match(/\b[a-z]{4,}\b/g) ?? [])
      words.add(word);
    if (++rows === rowsRead) break;
  }
  lines.close();
  return [...words].sort();
}

let kept;

function declarations() {
  kept ??= gunzipSync(readFileSync(join(dataFolder, 'multilingual', 'udhr.jsonl.gz')))
    .toString('utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
    .filter(({ lang, text }) => otherLanguages.includes(lang) && text.length > 40)
    .map(({ text }) => text);
  return kept;
}
