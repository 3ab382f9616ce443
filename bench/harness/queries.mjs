// Times a list of queries, one caller, one after the other.

/** What a query in flight may take before a budget ends: at least so many are asked, however slow. */
const fewestQueries = 20;

/**
 * Calls `search(i)`, which gives the ordinals found, for i in [0, count), one after the other; ends early after `budgetSeconds`.
 * @returns per query latency and CPU time of the whole process in microseconds (the latter is what remains comparable
 * beside busy neighbours), and all ordinals, k to a query; `asked`: how many queries there was time for
 */
export async function timeQueries(count, k, search, budgetSeconds = Number.POSITIVE_INFINITY) {
  const latencies = new Float64Array(count);
  const found = new Int32Array(count * k).fill(-1);
  const cpu = new Float64Array(count);
  const begin = process.hrtime.bigint();
  const elapsed = () => Number(process.hrtime.bigint() - begin) / 1e9;
  let asked = 0;
  while (asked < count && (asked < fewestQueries || elapsed() < budgetSeconds)) {
    const before = process.cpuUsage();
    const started = process.hrtime.bigint();
    const ordinals = await search(asked);
    latencies[asked] = Number(process.hrtime.bigint() - started) / 1000;
    const used = process.cpuUsage(before);
    cpu[asked] = used.user + used.system;
    for (let j = 0; j < Math.min(k, ordinals.length); j++) found[asked * k + j] = Number(ordinals[j]);
    asked++;
  }
  const seconds = elapsed();
  return {
    seconds,
    asked,
    cpu: cpu.subarray(0, asked),
    latencies: latencies.subarray(0, asked),
    found: found.subarray(0, asked * k),
  };
}
