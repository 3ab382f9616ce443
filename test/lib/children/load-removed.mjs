// argv: class, file, options as JSON. Loads the model and prints the error.
import { EmbeddingModel, LanguageModel, Reranker } from 'lorekeep';

const [kind, file, options] = process.argv.slice(2);
try {
  await { EmbeddingModel, LanguageModel, Reranker }[kind].load(file, JSON.parse(options));
  console.log(JSON.stringify({ code: 'loaded' }));
} catch ({ code, message, detail }) {
  console.log(JSON.stringify({ code, message, detail }));
}
