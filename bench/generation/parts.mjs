// A trial that consists of parts. Each part adds tables to one result.

/**
 * Runs the parts named in `options.parts`, in that order, until `options.minutes` are over.
 * @param parts name -> async (options, result)
 * @returns {tables, curves, leftOut, failed, detail}
 */
export async function runParts(parts, options) {
  const result = { tables: [], curves: [], leftOut: [], failed: [], detail: {} };
  const end = performance.now() + options.minutes * 60_000;
  const late = () => performance.now() > end;
  for (const name of options.parts.split(',')) {
    if (!parts[name])
      throw new Error(`--parts ${name}: there is no such part; there are ${Object.keys(parts)}`);
    if (late()) {
      result.leftOut.push({ name, reason: `its turn came after ${options.minutes} minutes` });
      continue;
    }
    const begin = performance.now();
    await parts[name]({ ...options, late }, result);
    console.log(`${name}: ${Math.round((performance.now() - begin) / 1000)} s`);
  }
  return result;
}

/** Adds what a group of contestants says of those who did not take part, each once. */
export function addAbsent(result, contestants) {
  for (const key of ['leftOut', 'failed']) {
    for (const one of contestants[key]) {
      if (!result[key].some(({ name, reason }) => name === one.name && reason === one.reason))
        result[key].push(one);
    }
  }
}
