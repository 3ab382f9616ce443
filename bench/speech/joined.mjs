// Clips that are joined with pauses, transcribed piece by piece and with pieces recognised together, in turns.
import { existsSync } from 'node:fs';
import { transcribe } from '../../dist/src/speech/transcribe.js';
import { median } from '../harness/numbers.mjs';
import { SpeechRecogniser, VoiceDetector } from '../lorekeep.mjs';
import { Random } from '../reliability/random.mjs';
import { clips, weights } from './texts.mjs';
import { shippedModel } from './vad.mjs';
import { wordErrors, wordsOf } from './words.mjs';

const rate = 16_000;
/** Shortest and longest pause, in s. */
const pauses = [0.45, 1.45];

/** @param options words: of the clips; rounds */
export async function measureJoined({ words, rounds }) {
  if (!existsSync(weights.Q8_0)) return { leftOut: [{ name: 'joined clips', reason: `no ${weights.Q8_0}` }] };
  const all = clips(words);
  const audio = joined(all.map(({ samples }) => samples));
  const truth = wordsOf(all.map(({ text }) => text).join(' '));
  const detector = await VoiceDetector.load(shippedModel);
  const recogniser = await SpeechRecogniser.load(weights.Q8_0, { threads: 2 });
  const found = new Map([
    ['one by one', []],
    ['together', []],
  ]);
  try {
    for (let round = 0; round < rounds; round++)
      for (const [name, runs] of found) {
        const [started, before] = [performance.now(), process.cpuUsage()];
        const texts = [];
        const options = { detector, recogniser, together: name === 'together' };
        const { signal } = new AbortController();
        for await (const { text } of transcribe(audio, { ...options, signal })) texts.push(text);
        const { user, system } = process.cpuUsage(before);
        const elapsed = (performance.now() - started) / 1000;
        runs.push({ pieces: texts.length, text: texts.join(' '), elapsed, cpu: (user + system) / 1e6 });
      }
  } finally {
    await recogniser.close();
    await detector.close();
  }
  const rows = [...found].map(([name, runs]) => ({
    name,
    seconds: audio.seconds,
    pieces: runs[0].pieces,
    words: truth.length,
    errors: wordErrors(truth, wordsOf(runs[0].text)) / truth.length,
    elapsed: median(runs.map((run) => run.elapsed)),
    cpu: median(runs.map((run) => run.cpu)),
  }));
  return { tables: [table(rows)], leftOut: [] };
}

function joined(all) {
  const random = new Random(1);
  const [least, most] = pauses;
  const parts = all.flatMap((samples) => [
    Float32Array.from(samples),
    new Float32Array(Math.round(rate * (least + (most - least) * random.next()))),
  ]);
  const seconds = parts.reduce((sum, part) => sum + part.length, 0) / rate;
  return {
    rate,
    channels: 1,
    seconds,
    async *pieces() {
      yield* parts;
    },
  };
}

function table(rows) {
  return {
    id: 'speech-joined',
    title: 'Joined clips, transcribed',
    columns: [
      { key: 'name', label: 'pieces of speech' },
      { key: 'seconds', label: 'audio, s', digits: 0 },
      { key: 'pieces', label: 'pieces', digits: 0 },
      { key: 'words', label: 'words', digits: 0 },
      { key: 'errors', label: 'word error rate', digits: 4 },
      { key: 'elapsed', label: 's', digits: 1 },
      { key: 'cpu', label: 'CPU s', digits: 1 },
    ],
    rows,
  };
}
