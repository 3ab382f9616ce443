/**
 * Returns how often a test repeats something that takes long and seldom fails: `usual` times in `npm test`, and `long` times in
 * `npm run test:rest`, which runs the files that import this one with LOREKEEP_TEST_LONG. LOREKEEP_TEST_<name> asks for another
 * count.
 */
export function repetitions(name: string, usual: number, long: number): number {
  const standard = process.env.LOREKEEP_TEST_LONG === undefined ? usual : long;
  const count = Number(process.env[`LOREKEEP_TEST_${name}`] ?? standard);
  if (!Number.isInteger(count) || count < 1) throw new Error(`LOREKEEP_TEST_${name}: a number is expected`);
  return count;
}
