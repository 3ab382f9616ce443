// Texts and queries for the trials: chunks of corpus-large.jsonl.gz where the data folder has it, else made-up ones of a printed seed.
import { createReadStream, existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createGunzip } from 'node:zlib';
import { dataFolder } from './cache.mjs';
import { Random } from './numbers.mjs';

const file = join(dataFolder, 'corpus-large.jsonl.gz');
const seed = 20240229;
/** Words of a made-up text, and how many different ones there are: about as in the corpus' chunks. */
const wordsPerText = 105;
const vocabulary = 60_000;

const corpusPresent = () => existsSync(file);

/** A sentence for the result. */
export const textSource = () =>
  corpusPresent()
    ? `chunks of corpus-large (about 105 words each), queries drawn with seed ${seed}`
    : `made-up texts of ${wordsPerText} words by a Zipf law over ${vocabulary} (no corpus-large.jsonl.gz in LOREKEEP_DATA), seed ${seed}`;

/** The first `count` texts; and `queries` runs of 3 to 6 words from the texts after them, as prose has them. */
export async function readTexts(count, queries = 0) {
  const texts = [];
  const asked = [];
  const random = new Random(seed);
  for await (const text of corpusPresent() ? storedTexts() : madeUpTexts()) {
    if (texts.length < count) texts.push(text);
    else asked.push(phrase(text, random));
    if (texts.length === count && asked.length === queries) break;
  }
  // A corpus that is smaller than asked for starts again, each text with a number of its own.
  const stored = texts.length;
  while (texts.length < count) texts.push(`${texts[texts.length % stored]} ${texts.length}`);
  while (asked.length < queries) asked.push(phrase(texts[random.integer(count)], random));
  return { texts, queries: asked };
}

async function* storedTexts() {
  const stored = createReadStream(file);
  const unpacked = stored.pipe(createGunzip());
  try {
    for await (const line of createInterface({ input: unpacked })) yield JSON.parse(line).text;
  } finally {
    // Who takes some lines only must not be measured while the rest is unpacked beside it.
    stored.destroy();
    unpacked.destroy();
  }
}

function* madeUpTexts() {
  const random = new Random(seed + 1);
  for (;;)
    yield Array.from({ length: wordsPerText }, () => wordOf(Math.floor(vocabulary ** random.uniform()))).join(
      ' ',
    );
}

/** The word of a rank: syllables, so that tokenizers and stemmers have letters to work on. */
function wordOf(rank) {
  const [consonants, vowels] = ['bdfgklmnprstvz', 'aeiou'];
  let word = '';
  for (let rest = rank; rest > 0 || word === ''; rest = Math.floor(rest / 70)) {
    word += consonants[rest % 14] + vowels[Math.floor(rest / 14) % 5];
  }
  return word;
}

function phrase(text, random) {
  const words = text.match(/[\p{L}\p{N}]+/gu) ?? [];
  const length = 3 + random.integer(4);
  const begin = random.integer(Math.max(1, words.length - length));
  return words.slice(begin, begin + length).join(' ');
}
