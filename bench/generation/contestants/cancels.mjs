// Cancels at random moments of each phase of a request.
import { setThrottle } from '../../lorekeep.mjs';

const [fewestMs, maxMs] = [1, 80];
/** Tokens of a prompt that are not in the cache: more than are computed before the cancel. */
const freshTokens = 512;
const replyTokens = 200;

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
/** Milliseconds on the clock of the model's numbers. */
const now = () => Number(process.hrtime.bigint()) / 1e6;
const between = (low, high) => low + Math.random() * (high - low);

/**
 * @param long a prompt; requests begin with a random part of it, which is in the cache, so that every depth is met
 * @param other a prompt of the same length; its tokens replace tokens that must not be cached
 * @returns by phase {acknowledged, ended}: ms from the cancel to the settled result, and to the end of computing;
 *   the second only of requests with a part in a step
 */
export async function cancels({ model, generate }, { long, other, count, phases }) {
  const kept = await model.prefix(Int32Array.from(long));
  const one = { model, generate, long, other };
  const found = {};
  for (const phase of phases) {
    found[phase] = { acknowledged: [], ended: [] };
    const finish = await begin(phase, one);
    for (let i = 0; i < count; i++) {
      const { acknowledged, ended, computed } = await cancelOnce(phase, one, i);
      found[phase].acknowledged.push(acknowledged);
      if (computed) found[phase].ended.push(ended);
    }
    await finish();
  }
  await kept.close();
  return found;
}

/** Tokens of the replies that run beside the cancelled requests of a phase. The second kind leaves no room in the cache. */
const beside = { 'prompt, beside a reply': 1000, waiting: 4000 };

/** Starts what a phase needs. @returns what ends it */
async function begin(phase, { generate, other }) {
  if (phase === 'reply, throttled') {
    setThrottle(1);
    return () => setThrottle(0);
  }
  if (!(phase in beside)) return () => {};
  let running = true;
  let stream;
  const next = (i) => generate({ prompt: other.slice(i % 100, (i % 100) + 8), maxTokens: beside[phase] });
  stream = next(0);
  await stream[Symbol.asyncIterator]().next();
  const streams = (async () => {
    for (let i = 1; running; i++) {
      await stream.result;
      if (running) stream = next(i);
    }
  })();
  return async () => {
    running = false;
    stream.cancel();
    await streams;
  };
}

async function cancelOnce(phase, { model, generate, long, other }, i) {
  const replies = phase.startsWith('reply');
  const depth = Math.floor(Math.random() * (long.length - freshTokens));
  const fresh = other.slice(i % 1000, (i % 1000) + (replies ? 1 : freshTokens));
  const generation = generate({ prompt: [...long.slice(0, depth), ...fresh], maxTokens: replyTokens });
  if (replies) await generation[Symbol.asyncIterator]().next();
  await sleep(between(fewestMs, maxMs));
  const begun = now();
  // Read between two steps, thus when nothing of the request is computed any more. Asked after the cancel, the question
  // might miss the end of the step and wait for the next one.
  const ended = model.numbers().then(({ readAtMs }) => readAtMs - begun);
  generation.cancel();
  const { finish, timing } = await generation.result;
  const acknowledged = now() - begun;
  if (finish !== 'cancelled')
    throw new Error(`${phase}: the request ended before its cancel, with ${finish}`);
  return { acknowledged, ended: await ended, computed: timing.prefillChunks > 0 };
}
