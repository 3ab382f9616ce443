// node generation.cjs MODEL: a CommonJS program that uses the language-model API, and sends what it got.
const { LanguageModel, scheduler, setThrottle } = require('lorekeep');

const [path] = process.argv.slice(2);
const reply = { maxTokens: 12, sampling: { temperature: 0 } };

async function main() {
  const { model: bytes } = (await LanguageModel.estimate(path)).devices[0];
  const model = await LanguageModel.load(path, { threads: 1, batchThreads: 1 });
  const prompt = Int32Array.from({ length: 20 }, (_, i) => 3 + i);
  const prefix = await model.prefix(prompt);
  const generation = model.generate({ ...reply, prompt, prefix });
  let pieces = 0;
  for await (const _ of generation) pieces++;
  const { finish, usage, tokens } = await generation.result;
  setThrottle(0);
  process.send({ bytes, pieces, finish, usage, tokens: [...tokens], steps: scheduler.stats().steps });
  await prefix.close();
  await model.close();
}

main();
