// How often a call can be made in a while, once it is warm.

/**
 * Calls `call(n)`, n = 0, 1, ..., one after the other: for `warmUp` seconds unseen, because another program's data are in the caches
 * when this one's turn comes, then for `seconds`.
 * @returns calls per second, and microseconds of CPU time of the process per call
 */
export async function timeRate(call, { warmUp, seconds }) {
  let calls = 0;
  const repeat = async (limit) => {
    const begin = performance.now();
    let elapsed = 0;
    const first = calls;
    do {
      await call(calls++);
      elapsed = (performance.now() - begin) / 1000;
    } while (elapsed < limit);
    return { done: calls - first, elapsed };
  };
  if (warmUp > 0) await repeat(warmUp);
  const before = process.cpuUsage();
  const { done, elapsed } = await repeat(seconds);
  const { user, system } = process.cpuUsage(before);
  return { perSecond: done / elapsed, cpu: (user + system) / done };
}
