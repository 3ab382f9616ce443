// Cancels at random moments of every phase: how soon a cancel is acknowledged, and how soon nothing of the request is computed any more.
import { Contestants } from '../../harness/contestants.mjs';
import { median, quantile } from '../../harness/numbers.mjs';
import { contestantsOf, own, withLlama } from '../contestants.mjs';
import { languageModel, promptTokens } from '../models.mjs';
import { addAbsent } from '../parts.mjs';

const phases = ['waiting', 'prompt', 'prompt, beside a reply', 'reply', 'reply, throttled'];
const longTokens = 4000;
const limitSeconds = 300;
/** llama.cpp inside lorekeep has as many cancels divided by this. */
const fewer = 5;

/** Adds the table "generation-cancel". */
export async function cancels(options, result) {
  const model = await languageModel(options.model);
  if (model.reason) throw new Error(`${options.model}: ${model.reason}`);
  const rows = [];
  for (const name of [own, withLlama]) {
    const list = contestantsOf(model, { ...options, context: 8192, peers: 'runtimes' });
    const contestants = await Contestants.start(list.filter((one) => one.name === name));
    const request = {
      long: promptTokens(model, longTokens, 7),
      other: promptTokens(model, longTokens, 8),
      count: name === own ? options.cancels : Math.ceil(options.cancels / fewer),
    };
    for (const phase of phases) {
      const found = await contestants.call(name, 'cancels', { ...request, phases: [phase] }, limitSeconds);
      if (found) rows.push(rowOf(name, phase, found[phase]));
    }
    contestants.end();
    addAbsent(result, contestants);
  }
  result.tables.push(table(rows));
}

function rowOf(name, phase, { acknowledged, ended }) {
  return {
    name,
    phase,
    cancels: acknowledged.length,
    median: median(acknowledged),
    p99: quantile(acknowledged, 0.99),
    computed: ended.length,
    ...(ended.length > 0 && {
      ended: median(ended),
      endedP99: quantile(ended, 0.99),
      endedMost: Math.max(...ended),
    }),
  };
}

function table(rows) {
  return {
    id: 'generation-cancel',
    title: `Cancels at random moments, at random depths of a prompt of ${longTokens} tokens`,
    columns: [
      { key: 'name', label: 'program' },
      { key: 'phase', label: 'phase' },
      { key: 'cancels', label: 'cancels', digits: 0 },
      { key: 'median', label: 'acknowledged, median ms' },
      { key: 'p99', label: 'p99 ms' },
      { key: 'computed', label: 'of which computed', digits: 0 },
      { key: 'ended', label: 'computing ended, median ms' },
      { key: 'endedP99', label: 'p99 ms' },
      { key: 'endedMost', label: 'longest ms' },
    ],
    rows,
  };
}
