/** "0.8 s", "42 s", "3 min 05 s". */
export function formatTime(milliseconds) {
  if (milliseconds < 10_000) return `${(milliseconds / 1000).toFixed(1)} s`;
  const seconds = Math.round(milliseconds / 1000);
  if (seconds < 60) return `${seconds} s`;
  return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, '0')} s`;
}

/**
 * Runs one phase and prints one line with its time. `work` may return what to add to that line, and meanwhile pass how
 * far it is to the function that it gets. A terminal shows that in place, a log as a line every 30 s.
 */
export async function phase(name, work, out = process.stdout, now = () => performance.now()) {
  const begin = now();
  const line = (note) =>
    `${name.padEnd(10)} ${formatTime(now() - begin).padStart(11)}${note ? `  ${note}` : ''}`;
  let next = begin + 30_000;
  const report = (note) => {
    if (out.isTTY) return out.write(`\r\x1b[K${line(note).slice(0, out.columns - 1)}`);
    if (now() < next) return;
    next = now() + 30_000;
    out.write(`${line(note)}\n`);
  };
  report('...');
  let note;
  try {
    note = await work(report);
  } finally {
    if (out.isTTY) out.write('\r\x1b[K');
  }
  out.write(`${line(note)}\n`);
}
