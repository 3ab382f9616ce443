import { describe, expect, it } from 'vitest';
import type { VoiceEvent } from '../../lib/internal.js';
import type { Audio } from '../../src/speech/audio.js';
import { dividedText } from '../../src/speech/divided-text.js';
import { transcribe } from '../../src/speech/transcribe.js';

const perMs = 16;

interface Spoken {
  beginMs: number;
  endMs: number;
}

const paddingMs = 100;

function eventsOf({ beginMs, endMs }: Spoken): { at: number; event: VoiceEvent }[] {
  const place = { beginMs, audioBeginMs: beginMs - paddingMs, probability: 1 };
  const ended = { ...place, kind: 'ended' as const, endMs, audioEndMs: endMs + paddingMs, cut: false };
  return [
    { at: beginMs + 300, event: { ...place, kind: 'started' } },
    { at: endMs + 400, event: ended },
  ];
}

/** Transcribes audio in which sample n has the value n, so that each recognised span shows its place. */
async function transcribed(
  spoken: readonly Spoken[],
  {
    lengthMs = 60_000,
    pieceMs = 1000,
    together = true,
    failsAtMs = Number.POSITIVE_INFINITY,
    word = (second: number) => `w${second}.`,
  } = {},
) {
  const waiting = spoken.flatMap(eventsOf);
  let heardMs = 0;
  const push = async (samples: Float32Array) => {
    heardMs += samples.length / perMs;
    const due = waiting.filter(({ at }) => at <= heardMs);
    waiting.splice(0, due.length);
    return { events: due.map(({ event }) => event), samples, probabilities: new Float32Array(0) };
  };
  /** What runs ends with the audio. */
  const finish = async () => ({
    events: waiting
      .splice(0)
      .map(({ event }) => event)
      .filter(({ kind, beginMs }) => kind === 'ended' && beginMs < heardMs),
    samples: new Float32Array(0),
    probabilities: new Float32Array(0),
  });
  const detector = { stream: () => ({ push, finish, [Symbol.asyncDispose]: async () => {} }) };
  const spans: [number, number][] = [];
  /** A word per second of audio. */
  const recognise = async (samples: Float32Array) => {
    const begin = (samples[0] ?? 0) / perMs;
    spans.push([begin, begin + samples.length / perMs]);
    const words = Array.from({ length: Math.floor(samples.length / perMs / 1000) }, (_, n) => ({
      text: word(Math.floor(begin / 1000) + n),
      beginMs: 1000 * n + 200,
      endMs: 1000 * n + 800,
      probability: 1,
    }));
    const text = words.map((word) => word.text).join(' ');
    return { text, words, language: 'en', probability: 1, tokens: new Int32Array(0) };
  };
  const audio = {
    rate: 16_000,
    channels: 1,
    seconds: lengthMs / 1000,
    async *pieces() {
      for (let at = 0; at < lengthMs; at += pieceMs) {
        if (at >= failsAtMs) throw new Error('torn');
        yield Float32Array.from({ length: pieceMs * perMs }, (_, n) => at * perMs + n);
      }
    },
  } as unknown as Audio;
  const { signal } = new AbortController();
  const options = { detector, recogniser: { recognise }, signal, together } as never;
  const segments: { beginMs: number; endMs: number; text: string }[] = [];
  let failure: unknown;
  try {
    for await (const { beginMs, endMs, text } of transcribe(audio, options))
      segments.push({ beginMs, endMs, text });
  } catch (error) {
    failure = error;
  }
  return { spans, segments, failure };
}

const pauses: Spoken[] = [
  { beginMs: 1000, endMs: 5000 },
  { beginMs: 6000, endMs: 9000 },
  { beginMs: 10_500, endMs: 29_000 }, // beyond 28 s from the first
  { beginMs: 30_000, endMs: 33_000 },
  { beginMs: 36_000, endMs: 38_000 }, // after a long pause
];

describe('transcribe', () => {
  it.each([20, 500, 7000, 60_000])(
    'recognises what fits a window together, in pieces of %i ms',
    async (pieceMs) => {
      const { spans, segments } = await transcribed(pauses, {
        pieceMs,
        lengthMs: pieceMs === 7000 ? 63_000 : 60_000,
      });
      expect(spans).toEqual([
        [900, 9100],
        [10_400, 33_100],
        [35_900, 38_100],
      ]);
      expect(segments.map(({ beginMs, endMs }) => ({ beginMs, endMs }))).toEqual(pauses);
      expect(segments.slice(0, 2).map(({ text }) => text)).toEqual(['w0. w1. w2. w3. w4.', 'w5. w6. w7.']);
    },
  );

  it('tells each segment at its end where segments are apart', async () => {
    const { spans } = await transcribed(pauses, { together: false });
    expect(spans).toEqual(pauses.map(({ beginMs, endMs }) => [beginMs - paddingMs, endMs + paddingMs]));
  });

  it('leaves out pieces of signs alone', async () => {
    const { segments } = await transcribed(pauses, { word: (second) => (second < 5 ? `w${second}.` : '♪.') });
    expect(segments).toEqual([{ ...pauses[0], text: 'w0. w1. w2. w3. w4.' }]);
  });

  it('tells what was said before an error', async () => {
    const { segments, failure } = await transcribed(pauses, { failsAtMs: 10_000 });
    expect(failure).toEqual(new Error('torn'));
    expect(segments.map(({ beginMs }) => beginMs)).toEqual([1000, 6000]);
    const running = await transcribed(pauses, { failsAtMs: 20_000 });
    expect(running).toMatchObject({
      failure: new Error('torn'),
      spans: [
        [900, 9100],
        [10_400, 20_000],
      ],
    });
  });
});

describe('dividedText', () => {
  const found = { language: 'en', probability: 0.5 };
  const word = (text: string, beginMs: number, endMs: number) => ({ text, beginMs, endMs, probability: 1 });
  const segments = [
    { beginMs: 0, endMs: 1000 },
    { beginMs: 2000, endMs: 3000 },
    { beginMs: 4000, endMs: 5000 },
  ];

  it('gives each segment the words near it, with the signs around them', () => {
    const words = [
      word('Ask', 100, 400),
      word('not,', 500, 1200),
      word('“what', 4200, 4600),
      word('is?”', 4600, 5000),
    ];
    const text = 'Ask not, “what is?”';
    expect(dividedText({ ...found, text, words }, segments)).toMatchObject([
      { beginMs: 0, endMs: 1000, text: 'Ask not,', words: [{ text: 'Ask' }, { text: 'not,' }] },
      { text: '', words: [] },
      { text: '“what is?”', words: [{ text: '“what' }, { text: 'is?”' }] },
    ]);
  });

  it('prefers a sign near a pause, and moves words into their segment', () => {
    const words = [
      word('Ask', 100, 500),
      word('not.', 1700, 2100),
      word('What', 2200, 2500),
      word('else?', 4000, 4500),
    ];
    const divided = dividedText({ ...found, text: 'Ask not. What else?', words }, segments);
    expect(divided.map(({ text }) => text)).toEqual(['Ask not.', 'What', 'else?']);
    expect(divided[0]?.words[1]).toMatchObject({ text: 'not.', beginMs: 1000, endMs: 1000 });
  });

  it('moves words into a segment that is alone', () => {
    const [alone] = segments;
    const words = [word('Ask', -90, 500), word('not.', 700, 1160)];
    expect(dividedText({ ...found, text: 'Ask not.', words }, alone ? [alone] : [])).toMatchObject([
      {
        words: [
          { beginMs: 0, endMs: 500 },
          { beginMs: 700, endMs: 1000 },
        ],
      },
    ]);
  });

  it('gives no word to a click beside longer pieces', () => {
    const words = [word('for', 100, 400), word('your', 500, 800), word('country.', 1200, 1333)];
    const pieces = [segments[0], { beginMs: 1200, endMs: 1333 }] as typeof segments;
    const text = 'for your country.';
    expect(dividedText({ ...found, text, words }, pieces)).toMatchObject([{ beginMs: 0, endMs: 1000, text }]);
    expect(dividedText({ ...found, text: 'Yes.', words: [] }, pieces.slice(1))).toMatchObject([
      { text: 'Yes.' },
    ]);
  });

  it('loses no text without times, or whose words are not in it', () => {
    const all = (text: string, words: ReturnType<typeof word>[]) =>
      dividedText({ ...found, text, words }, segments)
        .map((segment) => segment.text)
        .filter((piece) => piece !== '');
    expect(all('no words', [])).toEqual(['no words']);
    expect(all('a b c', [word('a', 0, 100), word('x', 2200, 2400), word('c', 4200, 4400)])).toEqual([
      'a b c',
    ]);
  });
});
