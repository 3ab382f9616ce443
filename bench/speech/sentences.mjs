// Sentences for recognisers: of the collections of bench/quality, without digits, names and rare signs.

import { collectionsPresent, readCollection } from '../quality/collections.mjs';
import { Random } from '../reliability/random.mjs';

const voices = ['en-us', 'en-us+m3', 'en-us+f2', 'en-gb', 'en-us+m7', 'en-us+f4'];
const least = 6;
const most = 24;
const collections = ['xquad-en', 'cisi'];

/** @returns utterances {voice, speed, pitch, text} of at least `words` words; empty without the collections */
export function sentences(words) {
  if (!collectionsPresent()) return [];
  const random = new Random(404);
  const texts = collections.flatMap((name) => [...readCollection(name).documents].map(({ text }) => text));
  const found = texts.flatMap((text) => text.split(/(?<=[.?!])\s+/)).filter(isPlain);
  const picked = [];
  for (let count = 0; count < words && found.length > 0; ) {
    const [text] = found.splice(random.below(found.length), 1);
    count += text.split(' ').length;
    picked.push({
      voice: random.of(voices),
      speed: 140 + 10 * random.below(4),
      pitch: 40 + 5 * random.below(4),
      text,
    });
  }
  return picked;
}

/** One capital letter, at the beginning: no names. */
function isPlain(text) {
  const count = text.split(' ').length;
  return count >= least && count <= most && /^[A-Z][a-z ,']+\.$/.test(text);
}

export const singleWords = [
  'yes',
  'no',
  'stop',
  'hello',
  'open',
  'help',
  'left',
  'right',
  'start',
  'play',
  'next',
  'back',
];
export const singleVoices = ['en-us', 'en-us+f2', 'en-gb', 'en-us+m3'];
