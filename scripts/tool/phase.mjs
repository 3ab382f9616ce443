/** "0.8 s", "42 s", "3 min 05 s". */
export function formatTime(milliseconds) {
  const seconds = milliseconds / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.round(seconds)} s`;
  return `${Math.floor(seconds / 60)} min ${String(Math.round(seconds) % 60).padStart(2, '0')} s`;
}

/** Runs one phase and prints one line with its time. `work` may return what to add to that line. */
export async function phase(name, work) {
  const begin = performance.now();
  const note = await work();
  const time = formatTime(performance.now() - begin).padStart(11);
  process.stdout.write(`${name.padEnd(10)} ${time}${note ? `  ${note}` : ''}\n`);
}
