// Times the three modes of search over the same queries, interleaved query by query.

export const modes = ['dense', 'lexical', 'hybrid'];
const warmUp = 50;

/** @returns mode -> microseconds of every query, by the clock (`wall`) and of CPU time of the process (`cpu`) */
export async function timeModes(count, search) {
  const timed = { wall: {}, cpu: {} };
  for (const mode of modes) {
    timed.wall[mode] = [];
    timed.cpu[mode] = [];
  }
  for (let round = -Math.min(warmUp, count); round < count; round++) {
    for (const mode of modes) {
      const used = process.cpuUsage();
      const begin = process.hrtime.bigint();
      await search(mode, round < 0 ? round + count : round);
      const micros = Number(process.hrtime.bigint() - begin) / 1000;
      const { user, system } = process.cpuUsage(used);
      if (round < 0) continue;
      timed.wall[mode].push(micros);
      timed.cpu[mode].push(user + system);
    }
  }
  return timed;
}
