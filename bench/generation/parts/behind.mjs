// A short request that arrives with the cancel of a long prompt, and the same one on an idle model.
import { Contestants } from '../../harness/contestants.mjs';
import { contestantsOf } from '../contestants.mjs';
import { languageModel, promptTokens } from '../models.mjs';
import { addAbsent } from '../parts.mjs';
import { firstTokenMs } from '../timeline.mjs';
import { Turns } from '../turns.mjs';

const shortTokens = 32;
/** The long prompt is cancelled this long after its start. */
const untilMs = 200;

/** Adds the table "generation-behind". */
export async function behind(options, result) {
  const model = await languageModel(options.model);
  if (model.reason) throw new Error(`${options.model}: ${model.reason}`);
  const contestants = await Contestants.start(contestantsOf(model, { ...options, context: 8192 }));
  const turns = new Turns(contestants);
  for (let round = 0; round < options.rounds; round++) {
    const tokens = (count, part) => promptTokens(model, count, 60_000 + 10 * round + part);
    const short = (part) => ({ name: 'short', prompt: tokens(shortTokens, part), maxTokens: 2 });
    const long = { name: 'long', prompt: tokens(options.prompt, 1), maxTokens: 8, until: { ms: untilMs } };
    await turns.each('alone', play([short(2)]));
    await turns.each('behind', play([long, { ...short(3), after: { name: 'long', cancelled: true } }]));
  }
  contestants.end();
  addAbsent(result, contestants);
  const rows = turns.names.map((name) => ({
    name,
    alone: turns.median(name, 'alone'),
    behind: turns.median(name, 'behind'),
  }));
  result.tables.push(table(rows, options));
}

const play = (requests) => async (ask) => {
  const seen = await ask('play', { requests });
  return seen && firstTokenMs(seen.short);
};

function table(rows, { prompt }) {
  return {
    id: 'generation-behind',
    title: `First token of a prompt of ${shortTokens} tokens, alone and behind a cancelled one of ${prompt}`,
    columns: [
      { key: 'name', label: 'program' },
      { key: 'alone', label: 'alone, ms' },
      { key: 'behind', label: 'behind the cancelled one, ms' },
    ],
    rows,
  };
}
