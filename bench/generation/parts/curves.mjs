// Tokens per second over the length of a prompt, the size of a chunk, the depth of the context and the number of streams.
import { Contestants } from '../../harness/contestants.mjs';
import { contestantsOf } from '../contestants.mjs';
import { manyStreams } from '../measurements.mjs';
import { languageModel, promptTokens } from '../models.mjs';
import { addAbsent } from '../parts.mjs';
import { Turns } from '../turns.mjs';

const modelName = 'SmolLM2-135M Q8_0';
const [prompts, chunks, depths] = [
  [64, 256, 1024, 4096],
  [1, 4, 16, 64, 256],
  [16, 1024, 2048, 4096],
];
const counts = [1, 2, 4, 8];
const reply = 32;

/** Adds the curves "generation-prompt", "-chunk", "-depth" and "-streams". */
export async function curves(options, result) {
  const model = await languageModel(modelName);
  if (model.reason) {
    result.leftOut.push({ name: `curves of ${modelName}`, reason: model.reason });
    return;
  }
  const peers = options.peers.replace('node-llama-cpp', ''); // it computes like llama-server
  const contestants = await Contestants.start(
    contestantsOf(model, { ...options, peers, context: 8192, slots: counts.at(-1) }),
  );
  const turns = new Turns(contestants);
  await new Turns(contestants).each('warm', point(model, { prompt: 64 }, 1));
  for (let round = 0; round < options['deep-rounds'] && !(round > 0 && options.late()); round++) {
    for (const prompt of prompts)
      await turns.each(`prompt ${prompt}`, point(model, { prompt }, seedOf(round)));
    for (const size of chunks) await turns.each(`chunk ${size}`, chunkAt(model, options.depth, size, round));
    // From the deepest up: each is the beginning of what a contestant still has.
    for (const depth of depths.toReversed()) await turns.each(`depth ${depth}`, replyAt(model, depth, round));
    for (const count of counts)
      await turns.each(`streams ${count}`, manyStreams(model, { reply, count }, seedOf(round) + 900));
    console.log(`curves: round ${round + 1}`);
  }
  contestants.end();
  addAbsent(result, contestants);
  result.curves.push(
    curve(turns, 'prompt', prompts),
    curve(turns, 'chunk', chunks),
    curve(turns, 'depth', depths),
    curve(turns, 'streams', counts),
  );
}

const seedOf = (round) => 20_000 + 1000 * round;
const perSecond = (tokens, ms) => (tokens / ms) * 1000;

const point =
  (model, { prompt }, seed) =>
  async (ask) => {
    const found = await ask('measure', { prompt: promptTokens(model, prompt, seed + prompt), maxTokens: 1 });
    return found && perSecond(found.computed, found.prefillMs);
  };

/** A chunk behind the longest prompt of the round, which the contestant still has. */
function chunkAt(model, depth, size, round) {
  const long = promptTokens(model, prompts.at(-1), seedOf(round) + prompts.at(-1));
  const prompt = [...long.slice(0, depth), ...promptTokens(model, size, seedOf(round) + 1)];
  return async (ask) => {
    const found = await ask('measure', { prompt, maxTokens: 1, reuse: true });
    return found && perSecond(found.computed, found.prefillMs);
  };
}

function replyAt(model, depth, round) {
  const long = promptTokens(model, prompts.at(-1), seedOf(round) + prompts.at(-1));
  return async (ask) => {
    const found = await ask('measure', { prompt: long.slice(0, depth), maxTokens: reply, reuse: true });
    return found && perSecond(found.completion - 1, found.decodeMs);
  };
}

function curve(turns, id, values) {
  return {
    chart: `generation-${id}`,
    panel: modelName,
    series: turns.names.map((name) => ({
      name,
      points: values
        .map((x) => ({ x, y: turns.median(name, `${id} ${x}`) }))
        .filter(({ y }) => y > 0 && Number.isFinite(y)),
    })),
  };
}
