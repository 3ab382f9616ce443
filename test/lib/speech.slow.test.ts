import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  LanguageModel,
  type RecogniseOptions,
  SpeechRecogniser,
  VoiceDetector,
  type VoiceOptions,
} from '../../lib/index.js';
import { espeakRate, haveEspeak, said } from '../helpers/espeak.js';
import { temporaryFolder } from '../helpers/folder.js';
import { haveModels, realModel, smolLm } from '../helpers/real-models.js';
import { haveWhisper, silero, vowel, whisperTiny } from '../helpers/speech-models.js';
import { tinyWhisper, type WhisperType, whisperTypes } from '../helpers/tiny-model/tiny-whisper.mjs';

const inFolder = temporaryFolder();

async function detector(): Promise<VoiceDetector> {
  const model = await VoiceDetector.load(silero);
  onTestFinished(() => model.close());
  return model;
}

/** Silence, 1.5 s of a voice, silence. */
const spoken = (rate = 16_000) => {
  const samples = new Float32Array(4 * rate);
  samples.set(vowel(1.5, rate), rate);
  return samples;
};

async function heard(samples: Float32Array | Int16Array, piece: number, options: VoiceOptions = {}) {
  const model = await detector();
  await using stream = model.stream(options);
  const results = [];
  for (let at = 0; at < samples.length; at += piece)
    results.push(await stream.push(samples.slice(at, at + piece)));
  results.push(await stream.finish());
  return {
    probabilities: results.flatMap((result) => [...result.probabilities]),
    events: results.flatMap((result) => result.events),
    samples: results.reduce((sum, result) => sum + result.samples.length, 0),
  };
}

describe('VoiceDetector', () => {
  it('says what it is', async () => {
    expect((await detector()).facts).toMatchObject({
      name: 'silero-16k',
      version: '6.2.0',
      sizeBytes: 885_098,
    });
  });

  it('gives the same results however the audio is cut, and in whatever form it comes', async () => {
    const whole = await heard(spoken(), 64_000);
    expect(whole.probabilities).toHaveLength(125);
    expect(whole.samples).toBe(64_000);
    expect(await heard(spoken(), 777)).toEqual(whole);
    const mono = spoken();
    const stereo = Float32Array.from({ length: 128_000 }, (_, i) => mono[i >> 1] as number);
    expect(await heard(stereo, 1600, { channels: 2 })).toEqual(whole);
  });

  it('hears nothing in silence and in noise', async () => {
    const noise = Float32Array.from({ length: 32_000 }, (_, i) => 0.02 * Math.sin(i * i));
    expect((await heard(noise, 1600)).events).toEqual([]);
    expect((await heard(new Int16Array(32_000), 1600)).events).toEqual([]);
    expect((await heard(new Float32Array(1000).fill(Number.NaN), 1000)).events).toEqual([]);
  });

  it('refuses options, samples and calls that it cannot serve', async () => {
    const model = await detector();
    for (const options of [
      { rate: 1 },
      { rate: 1e9 },
      { channels: 0 },
      { threshold: 2 },
      { maxSegmentMs: 1 },
    ])
      expect(() => model.stream(options)).toThrow(new RegExp(`^${Object.keys(options)[0]}`));
    await using stream = model.stream({ channels: 2 });
    await expect(stream.push(new Float32Array(3))).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await expect(stream.push('sound' as never)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    const first = stream.push(new Float32Array(200_000));
    await expect(stream.push(new Float32Array(2))).rejects.toThrow('one call at a time');
    await first;
    await stream.finish();
    await expect(stream.push(new Float32Array(2))).rejects.toThrow('ended');
  });

  it('refuses files that are none of its models', async () => {
    await expect(VoiceDetector.load(inFolder('absent.bin'))).rejects.toMatchObject({ code: 'NOT_FOUND' });
    writeFileSync(inFolder('cut.bin'), readFileSync(silero));
    truncateSync(inFolder('cut.bin'), 800_000);
    await expect(VoiceDetector.load(inFolder('cut.bin'))).rejects.toMatchObject({ code: 'MODEL_INVALID' });
    await expect(SpeechRecogniser.load(silero)).rejects.toMatchObject({ code: 'MODEL_INVALID' });
  });
});

describe('SpeechRecogniser', () => {
  it('knows its languages', () => {
    expect(SpeechRecogniser.languages()).toEqual(expect.arrayContaining(['en', 'de', 'ja']));
  });

  it('says so at once when its weights give values that are not numbers', async () => {
    const bytes = tinyWhisper();
    const name = 'decoder.ln.weight';
    // In the sum of a product of infinity and 0.
    bytes.writeFloatLE(3e38, bytes.indexOf(name) + name.length);
    writeFileSync(inFolder('vast.bin'), bytes);
    const model = await SpeechRecogniser.load(inFolder('vast.bin'));
    onTestFinished(() => model.close());
    const recognising = model.recognise(new Float32Array(16_000));
    await expect(recognising).rejects.toMatchObject({ code: 'MODEL_INVALID' });
  });

  it('gives no text that has no letters and digits', async () => {
    for (const [text, expected] of [
      ['! ? .', ''],
      ['7 !', '7 !'],
      ['Да.', 'Да.'],
    ] as const) {
      writeFileSync(inFolder('notes.bin'), tinyWhisper({ text }));
      const model = await SpeechRecogniser.load(inFolder('notes.bin'));
      onTestFinished(() => model.close());
      const found = await model.recognise(new Float32Array(16_000));
      expect(found.text).toBe(expected);
      if (expected === '') expect(found).toMatchObject({ words: [], probability: 0 });
    }
  });

  it.each(Object.keys(whisperTypes) as WhisperType[])('reads weights of type %s', async (type) => {
    writeFileSync(inFolder('typed.bin'), tinyWhisper({ type }));
    const model = await SpeechRecogniser.load(inFolder('typed.bin'), { threads: 1 });
    onTestFinished(() => model.close());
    expect((await model.recognise(vowel(1, 16_000))).text).toBe('The quick brown fox.');
  });

  it('hears the samples as they are when it is called', async () => {
    writeFileSync(inFolder('same.bin'), tinyWhisper({ text: 'yes' }));
    const model = await SpeechRecogniser.load(inFolder('same.bin'), { threads: 1 });
    onTestFinished(() => model.close());
    const samples = new Float32Array(16_000);
    const recognising = model.recognise(samples);
    structuredClone(samples.buffer, { transfer: [samples.buffer] });
    expect((await recognising).text).toBe('yes');
  });

  it('places words in the speech of the audio, from its first sample on, and gives each a duration', async () => {
    writeFileSync(inFolder('timed.bin'), tinyWhisper());
    const model = await SpeechRecogniser.load(inFolder('timed.bin'), { threads: 1 });
    onTestFinished(() => model.close());
    const begins = [0, 700, 1400, 2100];
    const samples = new Float32Array(16 * 3000);
    for (const begin of begins) samples.set(vowel(0.4, 16_000), 16 * begin);
    const { words } = await model.recognise(samples);
    expect(words.map(({ beginMs }) => beginMs)).toEqual(begins);
    for (const { beginMs, endMs } of words) expect(Math.abs(endMs - beginMs - 400)).toBeLessThanOrEqual(20);
    // Also where nothing is louder than the rest.
    const silent = (await model.recognise(new Float32Array(16_000))).words;
    expect(silent).toHaveLength(4);
    for (const [i, { beginMs, endMs }] of silent.entries()) {
      expect(endMs).toBeGreaterThan(beginMs);
      expect(beginMs).toBeGreaterThanOrEqual(silent[i - 1]?.endMs ?? 0);
      expect(endMs).toBeLessThanOrEqual(1000);
    }
  });

  it('gives way to better classes between windows, and waits for all at its end', async () => {
    writeFileSync(inFolder('windows.bin'), tinyWhisper({ text: 'yes' }));
    const model = await SpeechRecogniser.load(inFolder('windows.bin'), { threads: 1 });
    const [visible, buffered, background] = [
      'interactive_visible',
      'interactive_buffered',
      'background',
    ] as const;
    const served: string[] = [];
    let calls: Promise<number>[] | undefined;
    const onProgress = () => {
      calls ??= [visible, background, buffered, visible].map((each) =>
        model.recognise(new Float32Array(16_000), { class: each }).then(() => served.push(each)),
      );
    };
    const long = model.recognise(new Float32Array(16_000 * 100), { class: background, onProgress });
    const cancelled = model.recognise(new Float32Array(16_000), { signal: AbortSignal.timeout(0) });
    await expect(cancelled).rejects.toMatchObject({ name: 'AbortError' });
    expect((await long).text).toMatch(/^yes/);
    served.push('long');
    await model.close();
    await Promise.all(calls as Promise<number>[]);
    expect(served).toEqual([visible, visible, buffered, 'long', background]);
  });
});

describe.runIf(haveModels(smolLm))('recognition beside a reply', () => {
  it('of a better class does not wait while one in the background rests', async () => {
    writeFileSync(inFolder('beside.bin'), tinyWhisper({ text: 'yes' }));
    const model = await SpeechRecogniser.load(inFolder('beside.bin'), { threads: 1 });
    const talker = await LanguageModel.load(realModel(smolLm), { threads: 1, contextSize: 2048 });
    onTestFinished(async () => {
      await model.close();
      await talker.close();
    });
    // Tokens that would end it are excluded: it is long.
    const logitBias = Object.fromEntries(Array.from({ length: 17 }, (_, token) => [token, -1000]));
    const reply = talker.generate({ prompt: 'Once', maxTokens: 2000, logitBias });
    await reply[Symbol.asyncIterator]().next();
    const served: string[] = [];
    const call = (name: string, options: RecogniseOptions) =>
      model.recognise(new Float32Array(16_000 * 20), options).then(() => served.push(name));
    await call('first', { class: 'background' });
    // It rests for eight times what the first one took.
    const calls = [call('background', { class: 'background' }), call('visible', {})];
    await calls[1];
    expect(served).toEqual(['first', 'visible']);
    reply.cancel();
    await Promise.all(calls);
  });
});

describe.runIf(haveWhisper())('a recogniser with real weights', () => {
  async function recogniser(): Promise<SpeechRecogniser> {
    const model = await SpeechRecogniser.load(whisperTiny);
    onTestFinished(() => model.close());
    return model;
  }

  it('says what it is, and hears no text in silence', async () => {
    const model = await recogniser();
    expect(model.facts).toMatchObject({ name: 'tiny.en', multilingual: false, sizeBytes: 43_550_795 });
    const found = await model.recognise(new Float32Array(16_000));
    expect(found).toMatchObject({ text: '', language: 'en', words: [] });
    expect((await model.recognise(new Float32Array(0))).text).toBe('');
    expect((await model.recognise(new Float32Array(16_000).fill(Number.NaN))).text).toBe('');
  });

  it('refuses what it does not know', async () => {
    const model = await recogniser();
    const some = new Float32Array(16_000);
    await expect(model.recognise(some, { language: 'xx' })).rejects.toThrow('not a language of Whisper');
    await expect(model.recognise(some, { language: 'de' })).rejects.toThrow('English alone');
    await expect(model.recognise(some, { translate: true })).rejects.toThrow('English alone');
    await expect(model.recognise(some, { beams: 9 })).rejects.toThrow('beams');
    await expect(model.recognise(some, { class: 'urgent' as never })).rejects.toThrow('class');
    await expect(model.recognise(new Float32Array(16_000 * 601))).rejects.toThrow('600 s');
  });

  it('ends for a signal', async () => {
    const model = await recogniser();
    const ending = AbortSignal.timeout(20);
    await expect(model.recognise(vowel(20), { signal: ending })).rejects.toMatchObject({
      name: expect.stringMatching(/^(Abort|Timeout)Error$/),
    });
    expect((await model.recognise(new Float32Array(16_000))).text).toBe('');
  });

  it('refuses damaged weights', async () => {
    const bytes = readFileSync(whisperTiny);
    for (const [name, damage] of [
      ['cut', () => bytes.subarray(0, bytes.length - 1000)],
      ['shape', () => Buffer.concat([bytes.subarray(0, 12), Buffer.from([255]), bytes.subarray(13)])],
      ['nothing', () => bytes.subarray(0, 2)],
    ] as const) {
      writeFileSync(inFolder(`${name}.bin`), damage());
      const loading = SpeechRecogniser.load(inFolder(`${name}.bin`));
      await expect(loading, name).rejects.toMatchObject({ code: 'MODEL_INVALID' });
    }
  });
});

describe.runIf(haveWhisper() && haveEspeak('searches of real weights'))('a search of real weights', () => {
  /** What espeak-ng says, at the rate of a recogniser. */
  const word = async (text: string) => {
    const model = await detector();
    await using stream = model.stream({ rate: espeakRate });
    return (await stream.push(said(text))).samples;
  };

  it('gives the same tokens, whatever was heard before', async () => {
    const [yes, no] = [await word('yes'), await word('no')];
    const model = await SpeechRecogniser.load(whisperTiny);
    onTestFinished(() => model.close());
    for (const beams of [1, 5]) {
      const first = await model.recognise(yes, { beams });
      expect(first.text).toMatch(/^yes\b/i);
      expect((await model.recognise(no, { beams })).tokens).not.toEqual(first.tokens);
      expect(await model.recognise(yes, { beams })).toEqual(first);
    }
  });

  it('gives the first words of a clip that begins with them their times', async () => {
    const samples = await word('The quick brown fox jumps over the lazy dog.');
    const begin = samples.findIndex((value) => Math.abs(value) > 0.01);
    const model = await SpeechRecogniser.load(whisperTiny);
    onTestFinished(() => model.close());
    const { words } = await model.recognise(samples.subarray(begin));
    expect(words[0]).toMatchObject({ text: 'The', beginMs: 0 });
    for (const { text, beginMs, endMs } of words) expect(endMs, text).toBeGreaterThan(beginMs);
  });

  it('gives the same text when it gives way between two windows', async () => {
    const [yes, stop] = [await word('yes'), await word('stop')];
    const model = await SpeechRecogniser.load(whisperTiny);
    onTestFinished(() => model.close());
    const long = new Float32Array(16_000 * 70);
    for (const [i, each] of [yes, stop, yes].entries()) long.set(each, 16_000 * (1 + 30 * i));
    const alone = await model.recognise(long, { class: 'background' });
    expect(alone.text).toMatch(/yes.*stop.*yes/i);
    let between: Promise<string> | undefined;
    const onProgress = () => {
      between ??= model.recognise(stop).then(({ text }) => text);
    };
    expect(await model.recognise(long, { class: 'background', onProgress })).toEqual(alone);
    expect(await between).toMatch(/^stop/i);
  });
});
