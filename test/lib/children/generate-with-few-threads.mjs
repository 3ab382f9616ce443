// Generates with llama.cpp on more threads than the process may have. Prints the number of tokens, or one line that says why there are none.
// node generate-with-few-threads.mjs MODEL DETERMINISTIC
import { LanguageModel } from 'lorekeep';

const [path, deterministic] = process.argv.slice(2);
const options = {
  runtime: 'llama.cpp',
  contextSize: 128,
  threads: 16,
  batchThreads: 16,
  deterministic: deterministic === 'true',
};
try {
  const model = await LanguageModel.load(path, options);
  const request = { prompt: Int32Array.of(5, 6, 7), maxTokens: 8, sampling: { temperature: 0 } };
  const { usage } = await model.generate(request).result;
  console.log(`generated ${usage.completion}`);
  await model.close();
} catch (error) {
  console.log(`refused: ${error.code}: ${error.message}`);
}
