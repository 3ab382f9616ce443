// What recognisers write: word errors beside whisper.cpp's own program and faster-whisper on the same audio, tokens against the former,
// single words, beginnings and ends of streams, and sound without speech.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { dataFolder } from '../harness/cache.mjs';
import { SpeechRecogniser, VoiceDetector } from '../lorekeep.mjs';
import { readWav } from './audio.mjs';
import { fasterWhisperModel, clips as recordings } from './peers.mjs';
import { soundAlone } from './scenes.mjs';
import { sentences, singleVoices, singleWords } from './sentences.mjs';
import { listen, segmentsOf, shippedModel } from './vad.mjs';
import { spoken } from './voices.mjs';
import { byProgram, haveWhisperProgram, padded } from './whisper-program.mjs';
import { wordErrors, wordsOf } from './words.mjs';

export const models = process.env.LOREKEEP_REAL_MODELS ?? join(homedir(), '.cache', 'lorekeep-real-models');
export const weights = {
  Q8_0: join(models, 'ggml-tiny.en-q8_0.bin'),
  F16: join(models, 'ggml-tiny.en-f16.bin'),
};
const rate = 16_000;
/** Texts do not depend on their number. */
const threads = 1;
const jfk =
  'And so my fellow Americans ask not what your country can do for you ask what you can do for your country';

/** Clips {text, samples} at 16 kHz, of 16-bit values, so that a file holds them exactly. */
export function clips(words) {
  const made = sentences(words).map((say) => ({ text: say.text, samples: exact(spoken(say, rate).samples) }));
  if (existsSync(recordings.jfk))
    made.unshift({ text: jfk, samples: readWav(readFileSync(recordings.jfk)).samples });
  return made;
}

const exact = (samples) =>
  samples.map((value) => Math.round(Math.max(-1, Math.min(1, value)) * 32_767) / 32_768);

const absent = () => ({
  leftOut: [{ name: 'recognition', reason: `no ${weights.Q8_0}: LOREKEEP_REAL_MODELS names its folder` }],
});

/** @param options words, weights, beams: lists with commas; python */
export async function measureTexts({ words, weights: types, beams, python }) {
  if (!existsSync(weights.Q8_0)) return absent();
  const folder = mkdtempSync(join(tmpdir(), 'lorekeep-speech-'));
  const leftOut = [];
  try {
    const all = clips(words);
    if (all.length < 2)
      leftOut.push({
        name: 'sentences',
        reason: `no collections under ${dataFolder}: LOREKEEP_DATA names it`,
      });
    const tables = [];
    for (const width of beams.split(',').map(Number))
      tables.push(await errorTable({ all, python, folder, leftOut }, types.split(','), width));
    return { tables, leftOut };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Short audio, ends of streams, and sound without speech. */
export async function measureShort({ clips: count }) {
  if (!existsSync(weights.Q8_0)) return absent();
  return { tables: [await shortTable(clips(12 * count).slice(0, count))] };
}

/** Types of faster-whisper that stand beside those of whisper.cpp. */
const peersTypes = { F16: 'float32', Q8_0: 'int8' };

async function errorTable(given, types, beams) {
  const { all } = given;
  const rows = [];
  for (const type of types) {
    if (!existsSync(weights[type])) continue;
    console.log(`${all.length} clips, ${type}, ${beams} beams`);
    const model = await SpeechRecogniser.load(weights[type], { threads });
    const own = [];
    for (const { samples } of all) own.push(await model.recognise(samples, { beams }));
    await model.close();
    rows.push(rowOf(`lorekeep ${type}`, all, own));
    const program = await byWhisper(given, { type, beams });
    if (program) rows.push({ ...rowOf(`whisper.cpp ${type}`, all, program), ...equal(own, program) });
    const theirs = await byFasterWhisper(given, { type: peersTypes[type], beams });
    if (theirs) rows.push(rowOf(`faster-whisper ${peersTypes[type]}`, all, theirs));
  }
  return {
    id: beams === 1 ? 'speech-errors' : 'speech-errors-beams',
    title:
      beams === 1 ? 'Word errors of tiny.en, without a search' : `Word errors of tiny.en, ${beams} beams`,
    columns: [
      { key: 'name', label: '' },
      { key: 'words', label: 'words', digits: 0 },
      { key: 'errors', label: 'word error rate', digits: 4 },
      { key: 'tokens', label: "clips with lorekeep's tokens" },
    ],
    rows,
  };
}

/** Told at once: a whole run takes long. */
function rowOf(name, all, found) {
  let [words, errors] = [0, 0];
  for (const [i, { text }] of all.entries()) {
    const expected = wordsOf(text);
    words += expected.length;
    errors += wordErrors(expected, wordsOf(found[i].text));
  }
  const row = { name, words, errors: errors / words };
  console.log(JSON.stringify(row));
  return row;
}

function equal(own, theirs) {
  const same = own.filter(
    ({ tokens }, i) =>
      tokens.length === theirs[i].tokens.length && tokens.every((id, k) => id === theirs[i].tokens[k]),
  );
  const tokens = `${same.length} of ${own.length}`;
  console.log(`equal tokens: ${tokens}`);
  return { tokens };
}

async function byWhisper({ all, python, folder, leftOut }, { type, beams, more }) {
  if (!haveWhisperProgram() || !python) {
    leftOut.push({
      name: 'whisper.cpp',
      reason: 'not installed: `npm run setup:speech` in bench/ installs it',
    });
    return undefined;
  }
  const found = [];
  // One process per clip: its random numbers go on from clip to clip.
  for (const { samples } of all) {
    const reply = await byProgram(python, folder, [samples], { model: weights[type], beams, threads, more });
    found.push(...reply.found);
  }
  return found;
}

async function byFasterWhisper({ all, python, folder, leftOut }, { type, beams }) {
  const found = [];
  try {
    if (!python || !existsSync(fasterWhisperModel))
      throw new Error('not installed: `npm run setup:speech` in bench/ installs it');
    for (const { samples } of all) {
      const file = join(folder, 'padded.f32');
      // It fills up the spectrogram, not the audio: the silence must be in the audio.
      writeFileSync(file, padded(samples, 30 * rate));
      const request = { file, model: fasterWhisperModel, type, beams, threads, language: 'en' };
      found.push(await python.call('faster-whisper', request));
    }
    return found;
  } catch (error) {
    leftOut.push({ name: 'faster-whisper', reason: error.message.split('\n')[0] });
    return undefined;
  }
}

/** Single words, first and last words of streams without silence around them, and sound without speech. */
async function shortTable(all) {
  const detector = await VoiceDetector.load(shippedModel);
  const model = await SpeechRecogniser.load(weights.Q8_0, { threads });
  const rows = [];
  try {
    rows.push(await wordsRow(model), ...(await endsRows(detector, model, all)), ...(await emptyRows(model)));
  } finally {
    await model.close();
    await detector.close();
  }
  return {
    id: 'speech-short',
    title: 'Short audio, ends of streams, sound without speech',
    columns: [
      { key: 'name', label: '' },
      { key: 'tried', label: 'tried', digits: 0 },
      { key: 'right', label: 'as expected', digits: 0 },
      { key: 'note', label: 'otherwise' },
    ],
    rows,
  };
}

async function wordsRow(model) {
  let [tried, right] = [0, 0];
  const wrong = [];
  for (const voice of singleVoices) {
    for (const word of singleWords) {
      const { samples } = spoken({ voice, text: word }, rate);
      const { text } = await model.recognise(samples);
      tried++;
      if (wordsOf(text).join(' ') === word) right++;
      else wrong.push(`${word}: ${text || 'nothing'}`);
    }
  }
  return { name: 'single words', tried, right, note: wrong.slice(0, 8).join('; ') };
}

/** The first and the last word of a segment are those that the recogniser finds in the whole clip. */
async function endsRows(detector, model, all) {
  const first = { name: 'first words of a stream', tried: 0, right: 0 };
  const last = { name: 'last words of a stream', tried: 0, right: 0 };
  for (const { samples } of all) {
    const whole = wordsOf((await model.recognise(samples)).text);
    if (whole.length === 0) continue;
    const { events, samples: heard } = await listen(detector, { samples, rate, channels: 1 });
    const parts = [];
    for (const { beginMs, endMs } of segmentsOf(events))
      parts.push((await model.recognise(heard.slice(beginMs * 16, endMs * 16))).text);
    const found = wordsOf(parts.join(' '));
    first.tried++;
    last.tried++;
    if (found[0] === whole[0]) first.right++;
    if (found.at(-1) === whole.at(-1)) last.right++;
  }
  return [first, last];
}

async function emptyRows(model) {
  const rows = [];
  for (const background of ['silence', 'white', 'pink', 'brown', 'hum', 'traffic', 'music']) {
    const row = { name: `${background}, without a detector`, tried: 0, right: 0 };
    const said = [];
    for (let n = 0; n < 3; n++) {
      const made = soundAlone('report', n, { background, seconds: 10 });
      const { text } = await model.recognise(made.mono);
      row.tried++;
      if (text === '') row.right++;
      else said.push(text.slice(0, 40));
    }
    rows.push({ ...row, note: said.join('; ') });
  }
  return rows;
}
