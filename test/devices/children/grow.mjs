// argv: a language model, a backend. Generates after a short and after long prompts, for which the backend replaces its
// buffers by larger ones. Prints the device as one line of JSON.
import { LanguageModel, useBackend } from 'lorekeep';

const [path, backend] = process.argv.slice(2);
const { device } = await useBackend(backend);
const model = await LanguageModel.load(path, {
  contextSize: 512,
  kvCells: 2048,
  threads: 1,
  batchThreads: 1,
  placement: 'vram',
});
const story = 'One day, a girl named Lily saw a big tree. ';
for (const [repeats, count] of [
  [1, 1],
  [1, 4],
  [20, 1],
  [1, 2],
  [18, 4],
  [1, 1],
]) {
  const prompts = Array.from({ length: count }, (_, n) => `${n} ${story.repeat(repeats)}`);
  await Promise.all(prompts.map((prompt) => model.generate({ prompt, maxTokens: 8 }).result));
}
await model.close();
console.log(JSON.stringify({ device }));
