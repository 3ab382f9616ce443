// Agents that share a persona: its cells count once, later agents begin sooner, and a saved persona does so in a new process.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Contestants } from '../../harness/contestants.mjs';
import { median } from '../../harness/numbers.mjs';
import { contestantsOf, own, withLlama } from '../contestants.mjs';
import { languageModel, promptTokens } from '../models.mjs';
import { addAbsent } from '../parts.mjs';
import { firstTokenMs } from '../timeline.mjs';

const ownTokens = 20;
/** llama.cpp inside lorekeep has as many agents divided by this. */
const fewer = 5;
const modelName = 'SmolLM2-135M Q4_1';

/** Adds the tables "generation-prefix" and "generation-saved-prefix". */
export async function agents(options, result) {
  const model = await languageModel(modelName);
  if (model.reason) {
    result.leftOut.push({ name: 'agents with one persona', reason: model.reason });
    return;
  }
  const shared = [];
  const saved = [];
  for (const name of [own, withLlama]) {
    shared.push(await sharedPersona(name, model, options, result));
    saved.push(await savedPersona(name, model, options, result));
  }
  result.tables.push(...tables(shared, saved, options));
}

/** One process of the contestant `name`. */
async function start(name, model, options, context, result) {
  const list = contestantsOf(model, { ...options, peers: 'runtimes', context });
  const contestants = await Contestants.start(list.filter((one) => one.name === name));
  const end = () => {
    contestants.end();
    addAbsent(result, contestants);
  };
  return { contestants, end };
}

/** Agents one after the other. */
async function sharedPersona(name, model, options, result) {
  const persona = promptTokens(model, options.persona, 11);
  const agents = name === own ? options.agents : Math.ceil(options.agents / fewer);
  const context = 2048 + options.persona + agents * (ownTokens + 4);
  const { contestants, end } = await start(name, model, options, context, result);
  const ask = (method, argument) => contestants.call(name, method, argument);
  await ask('measure', { prompt: promptTokens(model, 64, 12), maxTokens: 2 }); // warming up
  const before = await ask('numbers');
  const firsts = [];
  for (let agent = 0; agent < agents && contestants.has(name); agent++) {
    const prompt = [...persona, ...promptTokens(model, ownTokens, 5000 + agent)];
    const seen = await ask('play', { requests: [{ name: 'agent', prompt, maxTokens: 1 }] });
    if (seen) firsts.push(firstTokenMs(seen.agent));
  }
  const after = await ask('numbers');
  end();
  if (!after) return { name, failed: 'see below' };
  return {
    name,
    agents: firsts.length,
    first: firsts[0],
    later: median(firsts.slice(1)),
    ratio: median(firsts.slice(1)) / firsts[0],
    worst: Math.max(...firsts.slice(1)) / firsts[0],
    cells: (after.cellsUsed - before.cellsUsed - options.persona) / firsts.length,
  };
}

/** A process computes a persona cold and saves it, another one loads it. */
async function savedPersona(name, model, options, result) {
  const folder = mkdtempSync(join(tmpdir(), 'lorekeep-bench-persona-'));
  const times = { cold: [], loaded: [], ratio: [] };
  try {
    for (let round = 0; round < options.rounds; round++) {
      const persona = promptTokens(model, options.persona, 60 + round);
      const request = { persona, path: join(folder, `${round}.prefix`) };
      const ms = {};
      for (const [key, method] of [
        ['cold', 'savePersona'],
        ['loaded', 'withSavedPersona'],
      ]) {
        const { contestants, end } = await start(name, model, options, 4096, result);
        const seed = key === 'cold' ? 70 : 80;
        await contestants.call(name, 'measure', { prompt: promptTokens(model, 64, seed), maxTokens: 2 });
        const tokens = promptTokens(model, ownTokens, seed + round);
        ms[key] = await contestants.call(name, method, { ...request, own: tokens });
        end();
      }
      if (ms.cold && ms.loaded) {
        times.cold.push(ms.cold);
        times.loaded.push(ms.loaded);
        times.ratio.push(ms.loaded / ms.cold);
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const [cold, loaded, ratio] = Object.values(times).map((list) =>
    list.length > 0 ? median(list) : undefined,
  );
  return { name, cold, loaded, ratio };
}

function tables(shared, saved, { persona }) {
  return [
    {
      id: 'generation-prefix',
      title: `Agents that share a persona of ${persona} tokens, with ${ownTokens} of their own each`,
      columns: [
        { key: 'name', label: '' },
        { key: 'agents', label: 'agents', digits: 0 },
        { key: 'first', label: 'first token of the first, ms' },
        { key: 'later', label: 'of the later ones, median ms' },
        { key: 'ratio', label: 'ratio', digits: 3 },
        { key: 'worst', label: 'largest ratio', digits: 3 },
        { key: 'cells', label: 'cells per agent, the persona counted once', digits: 2 },
      ],
      rows: shared,
    },
    {
      id: 'generation-saved-prefix',
      title: `First token of an agent in a new process, with a persona of ${persona} tokens`,
      columns: [
        { key: 'name', label: '' },
        { key: 'cold', label: 'persona computed, ms' },
        { key: 'loaded', label: 'persona loaded from a file, ms' },
        { key: 'ratio', label: 'ratio', digits: 3 },
      ],
      rows: saved,
    },
  ];
}
