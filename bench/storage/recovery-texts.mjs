// Texts of a given size for logs: made-up words, prose in English, and prose in other languages, from the data folder.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { dataFolder } from '../harness/cache.mjs';
import { Random } from '../harness/numbers.mjs';
import { readTexts } from '../harness/texts.mjs';

const multilingual = join(dataFolder, 'multilingual', 'multilingual.jsonl.gz');
const vocabulary = 50_000;
/** Mean bytes of a chunk of English prose. */
const chunkBytes = 600;

function madeChunks(bytes, seed) {
  const random = new Random(seed);
  const chunks = [];
  for (let made = 0; made < bytes; made += chunks.at(-1).length + 1)
    chunks.push(
      Array.from({ length: 100 }, () => `w${Math.floor(vocabulary ** random.uniform())}`).join(' '),
    );
  return chunks;
}

/** Chunks in some languages, or in all, in random order. */
function otherChunks(seed, langs) {
  const rows = gunzipSync(readFileSync(multilingual)).toString('utf8').trimEnd().split('\n');
  const chunks = rows.map((row) => JSON.parse(row)).filter(({ lang }) => !langs || langs.includes(lang));
  return Array.from(new Random(seed).permutation(chunks.length), (at) => chunks[at].text);
}

const sources = {
  'made-up words': madeChunks,
  'English prose': async (bytes) => (await readTexts(Math.ceil(bytes / chunkBytes))).texts,
  'German prose': (_, seed) => otherChunks(seed, ['de']),
  'Russian prose': (_, seed) => otherChunks(seed, ['ru']),
  'Chinese prose': (_, seed) => otherChunks(seed, ['zh-Hans', 'zh-Hant']),
  'prose in 35 languages': (_, seed) => otherChunks(seed),
};

/** Whether texts of a kind can be had. */
export const isPresent = (kind) =>
  kind === 'made-up words' || kind === 'English prose' || existsSync(multilingual);

/** Endless texts of at least `size` bytes, from at most `bytes` of different ones. */
export async function* textsOf(kind, { size, bytes, seed }) {
  const chunks = await sources[kind](bytes, seed);
  let text = '';
  for (let n = 0; ; n = (n + 1) % chunks.length) {
    text += (text === '' ? '' : ' ') + chunks[n];
    if (Buffer.byteLength(text) < size) continue;
    yield text;
    text = '';
  }
}
