import { expect, it, onTestFinished } from 'vitest';
import { type RecognisedSpeech, VoiceDetector } from '../../lib/index.js';
import { type SpeechEvent, SpeechStream, type SpeechStreamOptions } from '../../src/speech/speech-stream.js';
import { silero, syllables } from '../helpers/speech-models.js';

const said = (text: string): RecognisedSpeech => ({
  text,
  language: 'en',
  probability: 1,
  words: [],
  tokens: new Int32Array(0),
});

/**
 * A stream with texts while somebody speaks, the events so far, and the lengths of the audio that was recognised. `until`: what
 * the recogniser waits for.
 */
async function open(
  until: Promise<void> = Promise.resolve(),
  more: Partial<SpeechStreamOptions['settings']> = {},
) {
  const detector = await VoiceDetector.load(silero);
  onTestFinished(() => detector.close());
  const events: SpeechEvent[] = [];
  const recognised: number[] = [];
  const usual = { threshold: 0.5, endThreshold: 0.35, minSpeechMs: 250, minSilenceMs: 400, paddingMs: 160 };
  const settings = { ...usual, ...more };
  const stream = new SpeechStream({
    voice: () => detector.stream(settings),
    settings,
    partial: true,
    recognise: async ({ length }) => {
      recognised.push(length);
      await until;
      return said(`${length} samples`);
    },
    tell: (event) => void events.push(event),
    failed: (error) => expect.fail(String(error)),
    signal: new AbortController().signal,
  });
  onTestFinished(() => stream.close());
  return { stream, events, recognised };
}

/** Hears audio as a microphone gives it. */
async function hear(stream: SpeechStream, samples: Float32Array) {
  for (let at = 0; at < samples.length; at += 320) await stream.hear(samples.slice(at, at + 320));
}

it('recognises the audio before a pause once, also if the pause ends the segment', async () => {
  const { stream, events, recognised } = await open();
  await hear(stream, new Float32Array(16_000));
  await hear(stream, syllables(2));
  await hear(stream, new Float32Array(16_000));
  await stream.endUtterance();
  const texts = events.filter((event) => event.kind === 'text');
  const ended = events.filter((event) => event.kind === 'ended');
  expect(ended).toHaveLength(1);
  expect(texts.length).toBeGreaterThanOrEqual(2);
  expect(texts.map(({ final }) => final)).toEqual([...texts.slice(1).map(() => false), true]);
  expect(texts.at(-2)?.found.text).toBe(texts.at(-1)?.found.text);
  expect(recognised).toHaveLength(texts.length - 1);
  expect(recognised.at(-1)).toBe(ended[0]?.samples.length);
});

it('tells a text that comes after the end of its segment as final alone', async () => {
  let answer = () => {};
  const { stream, events, recognised } = await open(
    new Promise((resolve) => {
      answer = resolve;
    }),
  );
  await hear(stream, new Float32Array(16_000));
  await hear(stream, syllables(0.6));
  await hear(stream, new Float32Array(16_000));
  expect(events.map(({ kind }) => kind)).toEqual(['started', 'ended']);
  expect(recognised).toHaveLength(1);
  answer();
  await stream.endUtterance();
  expect(events.slice(2)).toMatchObject([{ kind: 'text', final: true, segment: 1 }]);
  expect(recognised).toHaveLength(1);
});

it('goes on after an utterance, with times since the beginning', async () => {
  const { stream, events } = await open();
  for (let i = 0; i < 2; i++) {
    await hear(stream, new Float32Array(16_000));
    await hear(stream, syllables(1));
    await stream.endUtterance();
  }
  const ended = events.filter((event) => event.kind === 'ended');
  expect(ended.map(({ segment }) => segment)).toEqual([1, 2]);
  expect(ended[1]?.beginMs).toBeGreaterThan(2500);
  expect(stream.heardMs).toBe(4000);
});

const silence = (seconds: number) => new Float32Array(Math.round(16_000 * seconds));

it.each([
  [{ minSpeechMs: 5000 }, [syllables(7)]],
  [{ minSpeechMs: 2500, minSilenceMs: 3000 }, [syllables(2), silence(2), syllables(2)]],
])('with %j, the audio of a segment begins where its speech does', async (settings, parts) => {
  const { stream, events } = await open(undefined, settings);
  for (const part of [silence(5), ...parts]) await hear(stream, part);
  await stream.endUtterance();
  const [ended, ...others] = events.filter((event) => event.kind === 'ended');
  expect(others).toEqual([]);
  expect(ended?.beginMs).toBeLessThan(5200);
  expect(ended?.samples.length).toBeGreaterThanOrEqual(16 * ((ended?.endMs ?? 0) - (ended?.beginMs ?? 0)));
});

it('a short sound after speech does not move its end, and its text stays', async () => {
  const heard = async (...sound: Float32Array[]) => {
    const { stream, events, recognised } = await open();
    for (const part of [silence(1), syllables(2), silence(0.2), ...sound, silence(1.5)])
      await hear(stream, part);
    await stream.endUtterance();
    const ended = events.filter((event) => event.kind === 'ended');
    return { ended: ended.map(({ beginMs, endMs }) => ({ beginMs, endMs })), recognised: recognised.at(-1) };
  };
  const plain = await heard(silence(0.1));
  expect(plain.ended).toHaveLength(1);
  for (const seconds of [0.03, 0.06, 0.09]) expect(await heard(syllables(seconds))).toEqual(plain);
});

it('a pause ends the text that runs since before it, and has its own, which no other pause ends', async () => {
  const detector = await VoiceDetector.load(silero);
  onTestFinished(() => detector.close());
  const settings = {
    threshold: 0.5,
    endThreshold: 0.35,
    minSpeechMs: 250,
    minSilenceMs: 700,
    paddingMs: 160,
  };
  const calls: { length: number; signal: AbortSignal; answer: () => void }[] = [];
  const events: SpeechEvent[] = [];
  const stream = new SpeechStream({
    voice: () => detector.stream(settings),
    settings,
    partial: true,
    recognise: ({ length }, signal) =>
      new Promise((resolve, reject) => {
        calls.push({ length, signal, answer: () => resolve(said(`${length} samples`)) });
        signal.addEventListener('abort', () => reject(signal.reason));
      }),
    tell: (event) => void events.push(event),
    failed: (error) => expect.fail(String(error)),
    signal: new AbortController().signal,
  });
  onTestFinished(() => stream.close());
  for (const part of [silence(1), syllables(1.6), silence(0.4)]) await hear(stream, part);
  expect(calls.map(({ signal }) => signal.aborted)).toEqual([true, false]);
  for (const part of [syllables(0.6), silence(0.4)]) await hear(stream, part);
  expect(calls.map(({ signal }) => signal.aborted)).toEqual([true, false]);
  calls[1]?.answer();
  await new Promise((resolve) => setImmediate(resolve));
  const texts = events.filter((event) => event.kind === 'text');
  expect(texts).toMatchObject([{ final: false, found: { text: `${calls[1]?.length} samples` } }]);
  expect(calls).toHaveLength(3);
  calls[2]?.answer();
  await stream.endUtterance();
});
