import { type ErrorCode, LorekeepError } from '../../lib/index.js';

/** What a new index file puts right; not that the system refuses to read it. */
const curable: ReadonlySet<ErrorCode> = new Set([
  'NOT_FOUND',
  'CORRUPT',
  'UNSUPPORTED',
  'DIMENSION_MISMATCH',
  'INVALID_ARGUMENT',
]);

/** Does something with an index file; what is wrong with the file is thrown together with what to do about it. */
export async function withIndexRemedy<T>(
  file: string,
  configPath: string,
  run: () => Promise<T>,
): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof LorekeepError)) throw error;
    const { code, message, detail } = error;
    const about = detail.path ?? detail.file ?? (message.startsWith(`${file}: `) && file);
    if (!curable.has(code) || about !== file) throw error;
    const remedy = code === 'NOT_FOUND' ? 'build it' : 'build it again';
    const known = message.replace(/; build it again$/, '');
    throw new LorekeepError(code, `${known}; ${remedy}: lorekeep build ${configPath}`, detail, {
      cause: error,
    });
  }
}
