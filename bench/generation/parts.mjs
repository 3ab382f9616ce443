// A trial that consists of parts. Each part adds tables to one result.
import { OptionError } from '../harness/command-line.mjs';

/**
 * Runs the parts named in `options.parts`, in that order, until `options.minutes` are over. A part is late as soon as the parts behind it
 * would not have the seconds that they usually take.
 * @param parts name -> async (options, result), or {run: that, seconds}; its options have `late()`, and `left()` in milliseconds
 * @returns {tables, curves, leftOut, failed, detail}
 */
export async function runParts(parts, options) {
  const result = { tables: [], curves: [], leftOut: [], failed: [], detail: {} };
  const names = options.parts.split(',');
  const unknown = names.find((name) => !parts[name]);
  if (unknown !== undefined)
    throw new OptionError(`--parts ${unknown}: there is no such part; there are ${Object.keys(parts)}`);
  const end = performance.now() + options.minutes * 60_000;
  for (const [place, name] of names.entries()) {
    if (performance.now() > end) {
      result.leftOut.push({ name, reason: `its turn came after ${options.minutes} minutes` });
      continue;
    }
    const behind = names.slice(place + 1).reduce((sum, other) => sum + (parts[other].seconds ?? 0), 0);
    const left = () => end - behind * 1000 - performance.now();
    const begin = performance.now();
    const run = parts[name].run ?? parts[name];
    await run({ ...options, left, late: () => left() < 0 }, result);
    console.log(`${name}: ${Math.round((performance.now() - begin) / 1000)} s`);
  }
  return result;
}

/** Adds the reasons of a group's absent contestants, each once. */
export function addAbsent(result, contestants) {
  for (const key of ['leftOut', 'failed']) {
    for (const one of contestants[key]) {
      if (!result[key].some(({ name, reason }) => name === one.name && reason === one.reason))
        result[key].push(one);
    }
  }
}
