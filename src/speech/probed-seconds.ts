import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Time for the header of a file, in ms. */
const mostMs = 10_000;

/** Returns the duration of a file as ffprobe states it; undefined if it is not installed, or finds none. */
export async function probedSeconds(input: readonly string[]): Promise<number | undefined> {
  const args = ['-v', 'error', ...input, '-show_entries', 'format=duration', '-of', 'csv=p=0'];
  const options = { timeout: mostMs, windowsHide: true };
  const stated = await promisify(execFile)('ffprobe', args, options).then(
    ({ stdout }) => stdout,
    () => '',
  );
  const seconds = Number.parseFloat(stated);
  return seconds > 0 && Number.isFinite(seconds) ? seconds : undefined;
}
