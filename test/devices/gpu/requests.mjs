// What requests ask for, on a GPU: constraints, stop strings, prefixes, classes, cancels, short steps.
import { join } from 'node:path';
import { beginnings, gpu, greedy, must, mustAgree, onGpu, someTokens, temporary } from './found.mjs';

/** Times of a software GPU say nothing about a GPU: they only may not go on for ever. */
const stepLimitMs = ({ small }) => (small ? 10_000 : 500);
const story = beginnings[0];

export async function constraints(options) {
  await gpu(options);
  const model = await onGpu(options.stories);
  const schema = {
    type: 'object',
    properties: { mood: { enum: ['glad', 'sad'] }, count: { type: 'integer', minimum: 1, maximum: 9 } },
    required: ['mood', 'count'],
    additionalProperties: false,
  };
  const replies = await Promise.all([
    model.generate({ ...greedy(story, 64), schema }).result,
    model.generate({ ...greedy(story, 64), grammar: 'root ::= ("yes" | "no") " " [0-9] [0-9]' }).result,
    model.generate(greedy(story)).result, // a neighbour without one
  ]);
  const [object, line] = replies.map(({ text }) => text);
  const { mood, count } = JSON.parse(object);
  must(['glad', 'sad'].includes(mood) && count >= 1 && count <= 9, `the schema does not hold: ${object}`);
  must(/^(yes|no) \d\d$/.test(line), `the grammar does not hold: ${line}`);
  return { object, line };
}

export async function stop(options) {
  await gpu(options);
  const model = await onGpu(options.stories);
  const whole = await model.generate(greedy(story)).result;
  const word = whole.text.trim().split(/\s+/).at(4);
  const stopped = await model.generate({ ...greedy(story), stop: [word] }).result;
  const expected = whole.text.slice(0, whole.text.indexOf(word));
  must(stopped.finish === 'stop_string', `it ended with ${stopped.finish}`);
  must(stopped.text === expected, `"${stopped.text}" instead of "${expected}"`);
  return { word, text: stopped.text };
}

export async function prefix(options) {
  await gpu(options);
  const prompt = someTokens(120, 3);
  const model = await onGpu(options.stories);
  const first = await model.generate(greedy(prompt)).result;
  const second = await model.generate(greedy(prompt)).result;
  must(
    second.usage.cached >= prompt.length - 1,
    `${second.usage.cached} of ${prompt.length} tokens were cached`,
  );
  mustAgree(first, second, 'from the cache');
  const kept = await model.prefix(prompt.subarray(0, 100));
  const file = join(temporary(), 'prefix');
  await kept.save(file);
  await model.close();
  const again = await onGpu(options.stories);
  await again.loadPrefix(file);
  const third = await again.generate(greedy(prompt)).result;
  must(third.usage.cached >= 99, `${third.usage.cached} tokens of the loaded prefix were used`);
  mustAgree(first, third, 'from the file');
  return { cached: second.usage.cached, loaded: third.usage.cached };
}

export async function parking(options) {
  await gpu(options);
  const model = await onGpu(options.stories, { contextSize: 400, kvCells: 500 });
  const [back, front] = [greedy(someTokens(200, 7), 150), greedy(someTokens(250, 8), 100)];
  const alone = [await model.generate(back).result, await model.generate(front).result];
  await model.close();
  const crowded = await onGpu(options.stories, { contextSize: 400, kvCells: 500 });
  const waiting = crowded.generate({ ...back, class: 'background' });
  for await (const _ of waiting) {
    const [done, later] = await Promise.all([crowded.generate(front).result, rest(waiting)]);
    const { parked } = await crowded.numbers();
    must(parked > 0, 'no request was parked');
    return {
      parked,
      front: mustAgree(alone[1], done, 'in front'),
      back: mustAgree(alone[0], later, 'parked'),
    };
  }
  throw new Error('the first request gave nothing');
}

/** Leaving an iteration would cancel. */
const rest = (generation) => generation.result;

export async function cancel(options) {
  await gpu(options);
  const { model, prompt } = await longPrompt(options);
  await model.generate({ prompt: prompt.subarray(0, 40), maxTokens: 1 }).result;
  const times = [];
  for (let round = 0; round < 5; round++) {
    const running = model.generate({ prompt: prompt.map((token) => token + round + 1), maxTokens: 4 });
    await new Promise((resolve) => setTimeout(resolve, 30 + 20 * round));
    const begin = performance.now();
    running.cancel();
    const { finish, usage } = await running.result;
    const { running: left } = await model.numbers(); // after the step that runs
    times.push({ ms: performance.now() - begin, finish, computed: usage.computed, left });
  }
  const longest = Math.max(...times.map(({ ms }) => ms));
  const inPrompt = times.filter(
    ({ finish, computed }) => finish === 'cancelled' && computed < prompt.length,
  ).length;
  must(
    times.every(({ left }) => left === 0),
    'a cancelled request goes on',
    { times },
  );
  must(longest < stepLimitMs(options), `${longest.toFixed(0)} ms until it had ended`, { times });
  return { longest, inPrompt, times };
}

export async function steps(options) {
  await gpu(options);
  const { model, prompt } = await longPrompt(options);
  const gaps = [];
  // A kernel is compiled or recorded in the first round.
  for (let round = 0; round < 3; round++) {
    const stream = model.generate({
      prompt: prompt.subarray(0, 32),
      maxTokens: 200,
      sampling: { temperature: 0 },
    });
    const begun = stream[Symbol.asyncIterator]();
    await begun.next();
    await model.generate({ prompt: prompt.map((token) => token + 10 + round), maxTokens: 1 }).result;
    stream.cancel();
    gaps.push((await stream.result).timing.longestGapMs);
  }
  const longest = Math.max(...gaps.slice(1));
  must(longest < stepLimitMs(options), `a stream waited ${longest.toFixed(0)} ms`, { gaps });
  return { gaps, promptTokens: prompt.length };
}

/** The largest model, and a prompt of many steps. */
async function longPrompt(options) {
  const path = options.small ? options.shapes[0] : options.shapes.at(-1);
  const length = options.small ? 200 : 6000;
  const model = await onGpu(path, { contextSize: length + 512, kvCells: 3 * length });
  return { model, prompt: someTokens(length, 9, 40_000) };
}
