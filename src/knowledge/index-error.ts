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
    if (!curable.has(code) || detail.file !== file) throw error;
    const remedy = `${code === 'NOT_FOUND' ? 'build it' : 'build it again'}: lorekeep build ${configPath}`;
    const { reason = message } = detail;
    throw LorekeepError.about(code, { ...detail, file, reason: String(reason), remedy }, { cause: error });
  }
}
