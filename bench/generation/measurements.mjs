// The measurements of one contestant, each by one to three of its calls.
import { promptTokens } from './models.mjs';

export const chunk = 16;
export const streams = 4;
const streamPrompt = 64;

const perSecond = (tokens, ms) => (tokens / ms) * 1000;

/** One stream. @returns tokens a second {prefill, decode} */
export const oneStream =
  (model, { prompt, reply }, seed) =>
  async (ask) => {
    const found = await ask('measure', { prompt: promptTokens(model, prompt, seed), maxTokens: reply });
    return found && speeds(found);
  };

/**
 * A long prompt; then, behind `depth` of its tokens, a small chunk and a reply.
 * @returns tokens a second {long, chunk, decode}
 */
export const deepStream =
  (model, { long, depth, reply }, seed) =>
  async (ask) => {
    const prompt = promptTokens(model, long, seed);
    const whole = await ask('measure', { prompt, maxTokens: 1 });
    const other = [...prompt.slice(0, depth), ...promptTokens(model, chunk, seed + 1)];
    const part = whole && (await ask('measure', { prompt: other, maxTokens: reply, reuse: true }));
    if (!part) return undefined;
    const { prefill, decode } = speeds(part);
    return {
      long: perSecond(whole.computed, whole.prefillMs),
      chunk: prefill,
      decode,
      computed: part.computed,
    };
  };

/** Streams that start together, with short prompts behind `shared` tokens that all have. @returns reply tokens a second of all */
export const manyStreams =
  (model, { reply, count = streams, shared = 0 }, seed) =>
  async (ask) => {
    const common = promptTokens(model, shared, seed + count);
    const requests = Array.from({ length: count }, (_, i) => ({
      name: `${i}`,
      prompt: [...common, ...promptTokens(model, streamPrompt, seed + i)],
      maxTokens: reply,
      reuse: shared > 0,
    }));
    const seen = await ask('play', { requests });
    if (!seen) return undefined;
    const all = Object.values(seen);
    const ms = Math.max(...all.map(({ endMs }) => endMs)) - Math.min(...all.map(({ startMs }) => startMs));
    return perSecond(count * reply, ms);
  };

function speeds({ computed, prefillMs, decodeMs, completion }) {
  return { prefill: perSecond(computed, prefillMs), decode: perSecond(completion - 1, decodeMs) };
}
