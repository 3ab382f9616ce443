// A server whose catalog has Silero VAD, Whisper tiny.en and SmolLM2, and the audio that its clients send.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { languageModel } from '../generation/models.mjs';
import { root } from '../harness/cache.mjs';
import { startServer } from '../server/server-process.mjs';
import { toInt16 } from './audio.mjs';
import { weights } from './texts.mjs';

export const rate = 16_000;
const languageModelName = 'SmolLM2-135M Q4_1';

/** @returns why there can be no such server; undefined if there can */
export async function missingModel() {
  if (!existsSync(weights.Q8_0)) return `no ${weights.Q8_0}`;
  return (await languageModel(languageModelName)).reason;
}

/** Starts one; stop() ends it and removes its folder. @param inference settings of `engines.llm_engine.inference` */
export async function speechServer(inference = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'lorekeep-speech-'));
  const model = (name, model_type, file) => ({ name, model_type, variants: [{ file }] });
  const { path } = await languageModel(languageModelName);
  const models = [
    model('Silero VAD', 'vad', join(root, 'data', 'models', 'ggml-silero-v6.2.0.bin')),
    model('tiny.en', 'stt', weights.Q8_0),
    model('talker', 'llm', path),
  ];
  const catalog = join(folder, 'models.json');
  writeFileSync(catalog, JSON.stringify({ version: 1, models }));
  const server = await startServer(folder, {
    models_catalog_path: catalog,
    engines: {
      llm_engine: { inference },
    },
  });
  return {
    ...server,
    async stop() {
      await server.stop();
      rmSync(folder, { recursive: true });
    },
  };
}

/** An agent that tells stories of up to `tokens` tokens. */
export const storyteller = (tokens, classOf = 'interactive_visible') => ({
  graph: {
    nodes: [
      {
        id: 'say',
        type: 'generate',
        params: { model: 'talker', max_tokens: tokens, class: classOf, history: { turns: 0 } },
      },
    ],
  },
});

export const int16 = (samples) => Int16Array.from(samples, toInt16);

/** Samples of clips with pauses between, in seconds: one more than clips. */
export function joined(clips, pauses) {
  const seconds = pauses.reduce((sum, one) => sum + one, 0);
  const length = clips.reduce((sum, clip) => sum + clip.length, 0) + Math.ceil(seconds * rate);
  const samples = new Float32Array(length);
  let at = 0;
  const places = clips.map((clip, i) => {
    at += Math.round(pauses[i] * rate);
    samples.set(clip, at);
    const begin = at;
    at += clip.length;
    return { beginMs: (1000 * begin) / rate, endMs: (1000 * at) / rate };
  });
  return { samples, places };
}

/** Writes samples in pieces of 20 ms by the clock, as a microphone does. @returns when the first piece was due */
export async function speak(speech, samples, { until = () => false, begun = performance.now() } = {}) {
  const piece = rate / 50;
  for (let at = 0; at < samples.length && !until(); at += piece) {
    // A piece is there when it was recorded.
    const due = begun + (1000 * Math.min(at + piece, samples.length)) / rate;
    const left = due - performance.now();
    if (left > 0) await new Promise((done) => setTimeout(done, left));
    await speech.write(samples.subarray(at, at + piece));
  }
  return begun;
}
