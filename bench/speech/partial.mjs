// Texts while somebody speaks, by the clock: clips are heard as a microphone gives them, in pieces of 20 ms, `streams` at a time. How soon a
// text comes after the audio that it is of, and after the begin of a pause, and how much of it the final text revises.
import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { Pauses } from '../../dist/src/speech/pauses.js';
import { SpeechStream } from '../../dist/src/speech/speech-stream.js';
import { median, quantile } from '../harness/numbers.mjs';
import { SpeechRecogniser, VoiceDetector } from '../lorekeep.mjs';
import { clips, weights } from './texts.mjs';
import { shippedModel } from './vad.mjs';
import { wordsOf } from './words.mjs';

const rate = 16_000;
const piece = rate / 50;
/** The defaults of a stream. */
const settings = { threshold: 0.5, endThreshold: 0.35, minSpeechMs: 250, minSilenceMs: 400, paddingMs: 160 };

/** @param options partials: number of clips; streams: how many are heard at a time, as `1,2` */
export async function measurePartial({ partials: count, streams }) {
  if (!existsSync(weights.Q8_0))
    return { leftOut: [{ name: 'texts while somebody speaks', reason: `no ${weights.Q8_0}` }] };
  const detector = await VoiceDetector.load(shippedModel);
  const recogniser = await SpeechRecogniser.load(weights.Q8_0);
  try {
    const rows = [];
    const detail = {};
    for (const number of String(streams).split(',').map(Number)) {
      const waiting = clips(25 * count).slice(0, count);
      const heard = [];
      const next = async () => {
        for (let clip = waiting.pop(); clip !== undefined; clip = waiting.pop())
          heard.push(await textsOf(clip.samples, { detector, recogniser }));
      };
      await Promise.all(Array.from({ length: number }, next));
      rows.push(rowOf(number, heard));
      detail[number] = heard;
    }
    return { tables: [table(rows)], leftOut: [], detail };
  } finally {
    await recogniser.close();
    await detector.close();
  }
}

/** The final text of each segment of a clip, and the texts before it. */
async function textsOf(samples, { detector, recogniser }) {
  const segments = new Map();
  const started = performance.now();
  const pauses = new Pauses(settings);
  /** Ends of the audio before a pause. */
  const pauseEnds = new Set();
  const voice = () => {
    const heard = detector.stream(settings);
    const push = async (piece, options) => {
      const result = await heard.push(piece, options);
      pauses.next(result.probabilities);
      if (pauses.beginMs !== undefined) pauseEnds.add(pauses.beginMs + settings.paddingMs);
      return result;
    };
    return { push, finish: (options) => heard.finish(options), close: () => heard.close() };
  };
  const tell = ({ kind, segment, final, found, endMs }) => {
    if (kind !== 'text') return;
    const one = segments.get(segment) ?? { partial: [] };
    segments.set(segment, one);
    if (final) one.final = found.text;
    else {
      const afterMs = performance.now() - started - endMs;
      one.partial.push({ text: found.text, afterMs, inPause: pauseEnds.has(endMs) });
    }
  };
  const failures = [];
  const stream = new SpeechStream({
    voice,
    settings,
    partial: true,
    recognise: (audio, signal) => recogniser.recognise(audio, { signal }),
    tell,
    failed: (error) => failures.push(error),
    signal: new AbortController().signal,
  });
  const silence = new Float32Array(rate / 2);
  const audio = Float32Array.from([...silence, ...samples, ...silence, ...silence]);
  for (let at = 0; at < audio.length; at += piece) {
    await delay(started + (1000 * (at + piece)) / rate - performance.now());
    await stream.hear(audio.subarray(at, at + piece));
  }
  await stream.endUtterance();
  await stream.close();
  if (failures.length > 0) throw failures[0];
  return [...segments.values()];
}

/** Words of a text that the final text has not in their places. */
function revised(text, final) {
  const [words, last] = [wordsOf(text), wordsOf(final)];
  return { words: words.length, changed: words.map((word, i) => word !== last[i]) };
}

function rowOf(streams, heard) {
  const segments = heard.flat();
  const partial = segments.flatMap(({ partial, final }) =>
    partial.map((one) => ({ ...one, ...revised(one.text, final ?? '') })),
  );
  const whole = (changed) => changed.every((each) => !each);
  const share = (list, of) => (100 * list.length) / of.length;
  const words = partial.flatMap(({ changed }) => changed);
  const times = partial.map(({ afterMs }) => afterMs);
  const afterPause = partial
    .filter(({ inPause }) => inPause)
    .map(({ afterMs }) => afterMs + settings.paddingMs);
  return {
    streams,
    clips: heard.length,
    segments: segments.length,
    texts: partial.length,
    kept: share(
      partial.filter(({ changed }) => whole(changed)),
      partial,
    ),
    last: share(
      partial.filter(({ changed }) => !whole(changed) && whole(changed.slice(0, -1))),
      partial,
    ),
    words: share(words.filter(Boolean), words),
    untouched: share(
      segments.filter((one) =>
        one.partial.every(({ text }) => whole(revised(text, one.final ?? '').changed)),
      ),
      segments,
    ),
    median: median(times),
    p95: quantile(times, 0.95),
    pause: median(afterPause),
    pauseP95: quantile(afterPause, 0.95),
  };
}

function table(rows) {
  return {
    id: 'speech-partial',
    title: 'Texts while somebody speaks, and the final text',
    columns: [
      { key: 'streams', label: 'streams', digits: 0 },
      { key: 'clips', label: 'clips', digits: 0 },
      { key: 'segments', label: 'segments', digits: 0 },
      { key: 'texts', label: 'texts that are not final', digits: 0 },
      { key: 'kept', label: 'all words stay, %', digits: 1 },
      { key: 'last', label: 'all but the last word stay, %', digits: 1 },
      { key: 'words', label: 'words revised, %', digits: 1 },
      { key: 'untouched', label: 'segments without a revision, %', digits: 1 },
      { key: 'median', label: 'after their audio, ms', digits: 0 },
      { key: 'p95', label: 'p95, ms', digits: 0 },
      { key: 'pause', label: 'after the begin of a pause, ms', digits: 0 },
      { key: 'pauseP95', label: 'p95, ms', digits: 0 },
    ],
    rows,
  };
}
