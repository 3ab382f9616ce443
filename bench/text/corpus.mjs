// Chunks to index and queries to ask, from corpus-large.jsonl.gz.
import { createReadStream, existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createGunzip } from 'node:zlib';
import { dataFolder } from '../quality/collections.mjs';

const file = join(dataFolder, 'corpus-large.jsonl.gz');
const seed = 20240229;

export const corpusPresent = () => existsSync(file);

/** The first `count` texts; and `queries` runs of 3 to 6 words from the texts after them, as prose has them. */
export async function readCorpus(count, queries) {
  const texts = [];
  const random = generator(seed);
  const asked = [];
  const lines = createInterface({ input: createReadStream(file).pipe(createGunzip()) });
  for await (const line of lines) {
    const { text } = JSON.parse(line);
    if (texts.length < count) texts.push(text);
    else asked.push(phrase(text, random));
    if (asked.length === queries) break;
  }
  lines.close();
  return { texts, queries: asked };
}

function phrase(text, random) {
  const words = text.match(/[\p{L}\p{N}]+/gu) ?? [];
  const length = 3 + Math.floor(random() * 4);
  const begin = Math.floor(random() * Math.max(1, words.length - length));
  return words.slice(begin, begin + length).join(' ');
}

/** Numbers in [0, 1), mulberry32. */
function generator(state) {
  let a = state;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
