// Models of speech: Silero VAD as it is shipped, and small Whisper models of every type of weights.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { tinyWhisper, whisperTypes } from '../../../test/helpers/tiny-model/tiny-whisper.mjs';
import { root } from '../../harness/cache.mjs';
import { SpeechRecogniser, VoiceDetector } from '../../lorekeep.mjs';
import { refusingSizes } from './language-models.mjs';

/** Forged weights may write until a text is full, several times: longer than this is not waited for. */
const patienceMs = 250;

const sound = Float32Array.from({ length: 16_000 }, (_, i) => 0.1 * Math.sin(i / 7) * Math.sin(i / 900));

async function heard(path) {
  const detector = await VoiceDetector.load(path);
  try {
    const stream = detector.stream();
    const { probabilities } = await stream.push(sound);
    const { events } = await stream.finish();
    await stream.close();
    return JSON.stringify([[...probabilities], events.length]);
  } finally {
    await detector.close();
  }
}

async function written(path) {
  const model = await SpeechRecogniser.load(path, { threads: 1 });
  try {
    const { text, probability } = await model.recognise(sound, { signal: AbortSignal.timeout(patienceMs) });
    return JSON.stringify([text, probability]);
  } catch (error) {
    if (error.code !== 'CANCELLED') throw error;
    return JSON.stringify(['', 0]);
  } finally {
    await model.close();
  }
}

/** Loaders by name and weight; `make` loads the models, which the processes of other loaders need not. */
export const speechLoaders = () => [
  {
    name: 'model that detects voice',
    weight: 1,
    make: () => ({
      load: heard,
      check: (answer) =>
        JSON.parse(answer)[0].every((value) => value >= 0 && value <= 1) ? undefined : 'no probability',
      files: [readFileSync(join(root, 'data', 'models', 'ggml-silero-v6.2.0.bin'))],
    }),
  },
  {
    name: 'model that recognises speech, all types of weights',
    weight: 1,
    make: () => ({
      load: (path) => refusingSizes(() => written(path)),
      check(answer) {
        const [text, probability] = JSON.parse(answer);
        if (!(probability >= 0 && probability <= 1)) return 'no probability';
        return text.length <= 20_000 ? undefined : 'a text that is too long';
      },
      files: Object.keys(whisperTypes).map((type) => tinyWhisper({ type })),
    }),
  },
];
