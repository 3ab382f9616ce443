/** "0.8 s", "42 s", "3 min 05 s". */
export function formatTime(milliseconds) {
  if (milliseconds < 10_000) return `${(milliseconds / 1000).toFixed(1)} s`;
  const seconds = Math.round(milliseconds / 1000);
  if (seconds < 60) return `${seconds} s`;
  return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, '0')} s`;
}

/** Runs one phase and prints one line with its time. `work` may return what to add to that line. */
export async function phase(name, work) {
  const begin = performance.now();
  const note = await work();
  const time = formatTime(performance.now() - begin).padStart(11);
  process.stdout.write(`${name.padEnd(10)} ${time}${note ? `  ${note}` : ''}\n`);
}
