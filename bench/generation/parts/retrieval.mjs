// Retrieval turns beside a generation.
import { fileURLToPath } from 'node:url';
import { Contestants } from '../../harness/contestants.mjs';
import { median, quantile } from '../../harness/numbers.mjs';
import { contestantsOf, own } from '../contestants.mjs';
import { languageModel, promptTokens } from '../models.mjs';
import { addAbsent } from '../parts.mjs';

const embedder = fileURLToPath(new URL('../../../data/models/lorekeep-mini.gguf', import.meta.url));

/** Adds the table "generation-retrieval". */
export async function retrieval({ queries, ...options }, result) {
  const model = await languageModel(options.model);
  if (model.reason) throw new Error(`${options.model}: ${model.reason}`);
  const contestants = await Contestants.start(contestantsOf(model, { ...options, context: 8192, peers: '' }));
  const prompt = promptTokens(model, 64, 3);
  const found = await contestants.call(own, 'retrieval', { queries, prompt, embedder });
  contestants.end();
  addAbsent(result, contestants);
  if (!found) return;
  const { alone, beside, step } = found;
  const of = (times) => ({ median: median(times), p99: quantile(times, 0.99) });
  const rows = [
    { name: 'alone', ...of(alone) },
    { name: 'beside a generation', ...of(beside), ratio: median(beside) / median(alone), step },
  ];
  result.tables.push({
    id: 'generation-retrieval',
    title: 'A hybrid search with its query embedding, alone and beside a generation',
    columns: [
      { key: 'name', label: '' },
      { key: 'median', label: 'median ms' },
      { key: 'ratio', label: 'of the median alone', digits: 2 },
      { key: 'p99', label: 'p99 ms' },
      { key: 'step', label: 'longest step ms' },
    ],
    rows,
  });
}
