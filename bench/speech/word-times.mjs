// Times of words against what espeak-ng says about its own speech: sentences, whose begins of words it reports, and words that are spoken
// apart and joined with pauses of .1 to .5 s, whose ends are known, too. Clips begin with their first word.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { median, quantile } from '../harness/numbers.mjs';
import { SpeechRecogniser } from '../lorekeep.mjs';
import { Random } from '../reliability/random.mjs';
import { atRate, fromDecibels, loudness } from './audio.mjs';
import { sentences } from './sentences.mjs';
import { weights } from './texts.mjs';
import { spoken } from './voices.mjs';
import { wordsOf } from './words.mjs';

const rate = 16_000;
const perMs = rate / 1000;
/** Of white noise, relative to the clip. */
const noise = fromDecibels(-20);
/** The constants of native/speech/word_times.cc were chosen on the sentences before. */
const chosenOn = 120;

/** @param options timed: number of clips of each kind */
export async function measureTimes({ timed: count }) {
  const says = sentences(25 * (chosenOn + count)).slice(chosenOn, chosenOn + count);
  if (!existsSync(weights.Q8_0) || says.length < count)
    return { leftOut: [{ name: 'times of words', reason: `no ${weights.Q8_0}, or no collections` }] };
  const kinds = { sentences: wholeClips(says), 'words apart': joinedClips(says) };
  const recogniser = await SpeechRecogniser.load(weights.Q8_0);
  const rows = [];
  try {
    for (const [kind, clips] of Object.entries(kinds))
      for (const [background, level] of [
        ['silence', 0],
        ['white', noise],
      ]) {
        const met = [];
        for (const { samples, words } of clips)
          met.push(...errors(words, (await recogniser.recognise(noisy(samples, level))).words));
        rows.push(rowOf(kind, background, 'all', met));
        const first = met.filter(({ isFirst }) => isFirst);
        rows.push(rowOf(kind, background, 'first', first));
      }
  } finally {
    await recogniser.close();
  }
  return { tables: [table(rows)], leftOut: [] };
}

/** Sentences, with the begins of words that libespeak-ng reports. */
function wholeClips(says) {
  const script = fileURLToPath(new URL('word-begins.py', import.meta.url));
  const input = says.map((say) => `${JSON.stringify(say)}\n`).join('');
  const { stdout, stderr, status } = spawnSync('python3', [script], {
    input,
    maxBuffer: 2 ** 30,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`word-begins.py: ${stderr}`);
  return stdout
    .trim()
    .split('\n')
    .map((line) => {
      const { rate: from, samples, words } = JSON.parse(line);
      const bytes = Buffer.from(samples, 'base64');
      const values = Float32Array.from(
        { length: bytes.length >> 1 },
        (_, i) => bytes.readInt16LE(2 * i) / 32_768,
      );
      return { samples: atRate(values, from, rate), words };
    });
}

/** The first 3 to 8 words of each sentence, spoken apart. */
function joinedClips(says) {
  const random = new Random(77);
  return says.map(({ text, ...voice }) => {
    const words = [];
    const parts = [];
    let at = 0;
    for (const word of wordsOf(text).slice(0, 3 + random.below(6))) {
      const { samples } = spoken({ ...voice, text: word }, rate);
      words.push({ text: word, beginMs: at / perMs, endMs: (at + samples.length) / perMs });
      const pause = new Float32Array(perMs * (100 + random.below(401)));
      parts.push(samples, pause);
      at += samples.length + pause.length;
    }
    return { words, samples: Float32Array.from(parts.flatMap((part) => [...part])) };
  });
}

function noisy(samples, level) {
  const random = new Random(5);
  const loud = level * loudness(samples) * Math.sqrt(3);
  return samples.map((value) => value + loud * (random.below(20_001) / 10_000 - 1));
}

/** Errors in ms of the words of the longest common subsequence. */
function errors(expected, found) {
  const said = found.map((word) => ({ ...word, text: wordsOf(word.text).join('') }));
  const same = (i, j) => wordsOf(expected[i].text).join('') === said[j].text;
  const longest = Array.from({ length: expected.length + 1 }, () => new Array(said.length + 1).fill(0));
  for (let i = expected.length - 1; i >= 0; i--)
    for (let j = said.length - 1; j >= 0; j--)
      longest[i][j] = same(i, j) ? 1 + longest[i + 1][j + 1] : Math.max(longest[i + 1][j], longest[i][j + 1]);
  const met = [];
  for (let [i, j] = [0, 0]; i < expected.length && j < said.length; ) {
    if (same(i, j)) {
      const { beginMs, endMs } = said[j];
      const begin = Math.abs(beginMs - expected[i].beginMs);
      const end = Math.abs(endMs - expected[i].endMs);
      met.push({ begin, end, isFirst: i === 0, isEmpty: beginMs === endMs });
      [i, j] = [i + 1, j + 1];
    } else if (longest[i + 1][j] >= longest[i][j + 1]) i++;
    else j++;
  }
  return met;
}

function rowOf(kind, background, words, met) {
  const of = (list) =>
    list.some(Number.isNaN) ? [undefined, undefined] : [median(list), quantile(list, 0.9)];
  const [begin, begin90] = of(met.map(({ begin }) => begin));
  const [end, end90] = of(met.map(({ end }) => end));
  const empty = met.filter(({ isEmpty }) => isEmpty).length;
  return { name: kind, background, words, count: met.length, begin, begin90, end, end90, empty };
}

const table = (rows) => ({
  id: 'speech-times',
  title: 'Times of words',
  columns: [
    { key: 'name', label: 'clips' },
    { key: 'background', label: 'background' },
    { key: 'words', label: 'words' },
    { key: 'count', label: 'recognised', digits: 0 },
    { key: 'begin', label: 'error of the begin, ms', digits: 0 },
    { key: 'begin90', label: 'p90, ms', digits: 0 },
    { key: 'end', label: 'error of the end, ms', digits: 0 },
    { key: 'end90', label: 'p90, ms', digits: 0 },
    { key: 'empty', label: 'without a duration', digits: 0 },
  ],
  rows,
});
