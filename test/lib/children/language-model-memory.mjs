// Loads a language model, fills its context, and prints the memory that this took and the estimate, in bytes.
// node language-model-memory.mjs MODEL RUNTIME CACHE_TYPE CONTEXT
import { readFileSync } from 'node:fs';
import { LanguageModel } from 'lorekeep';

const [path, runtime, kvCacheType, context] = process.argv.slice(2);
const options = { runtime, kvCacheType, contextSize: Number(context), threads: 1, batchThreads: 1 };
/** Of this process alone, without files. */
const used = () => 1024 * Number(/^RssAnon:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))[1]);

const { total } = await LanguageModel.estimate(path, options);
const before = used();
const model = await LanguageModel.load(path, options);
const prompt = Int32Array.from({ length: Number(context) - 2 }, (_, i) => 300 + ((i * 7919) % 200));
await model.generate({ prompt, maxTokens: 1, sampling: { temperature: 0 } }).result;
const taken = used() - before;
const second = await LanguageModel.load(path, options);
const again = used() - before - taken;
process.send({ runtime: model.facts.runtime, fileBytes: model.facts.fileBytes, total, taken, again });
await second.close();
await model.close();
