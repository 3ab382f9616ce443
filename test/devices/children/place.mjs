// argv: a language model, a backend, `memory` to compute nothing. Plans and loads the model in several places and prints what
// is where, and the same reply from each, as one line of JSON.
import { LanguageModel, useBackend } from 'lorekeep';

const [path, backend, only] = process.argv.slice(2);
const { device } = await useBackend(backend, { reserveBytes: Number(process.env.RESERVE ?? 0) });
const settings = { contextSize: 256, threads: 1, batchThreads: 1, runtime: 'llama.cpp' };
const memory = async (options) => {
  const { devices } = await LanguageModel.estimate(path, { ...settings, ...options });
  return Object.fromEntries(devices.map(({ device: name, ...bytes }) => [name, bytes]));
};
const reply = async (options) => {
  try {
    const model = await LanguageModel.load(path, { ...settings, ...options });
    const { device: place, placementNote } = model.facts;
    const request = { prompt: 'Once upon a time', maxTokens: 24, sampling: { temperature: 0 } };
    const replies = await Promise.all([1, 2, 3].map(() => model.generate(request).result));
    await model.close();
    return { place, placementNote, texts: replies.map(({ text }) => text) };
  } catch (error) {
    return { code: error.code, message: error.message };
  }
};
console.log(
  JSON.stringify({
    device,
    memory: {
      vram: await memory({ placement: 'vram' }).catch(({ code }) => code),
      ram: await memory({ placement: 'ram' }),
      withoutKqv: await memory({ placement: 'auto', offloadKqv: false }),
      smallBatch: await memory({ placement: 'auto', batchSize: 32 }),
    },
    ...(only !== 'memory' && {
      ram: await reply({ placement: 'ram' }),
      vram: await reply({ placement: 'vram' }),
      auto: await reply({ placement: 'auto' }),
      withoutKqv: await reply({ placement: 'auto', offloadKqv: false }),
    }),
  }),
);
