import { type ErrorCode, LorekeepError } from '../../lib/internal.js';

/** Codes of errors that a rebuilt index file repairs. */
const curable: ReadonlySet<ErrorCode> = new Set([
  'NOT_FOUND',
  'CORRUPT',
  'UNSUPPORTED',
  'DIMENSION_MISMATCH',
  'INVALID_ARGUMENT',
]);

/** Runs work on an index file. Adds the remedy, a command, to errors about the file. */
export async function withIndexRemedy<T>(
  file: string,
  buildCommand: string,
  run: () => Promise<T>,
): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof LorekeepError)) throw error;
    const { code, message, detail } = error;
    if (!curable.has(code) || detail.file !== file) throw error;
    const remedy = `${code === 'NOT_FOUND' ? 'build it' : 'build it again'}: ${buildCommand}`;
    const { reason = message } = detail;
    throw LorekeepError.about(code, { ...detail, file, reason: String(reason), remedy }, { cause: error });
  }
}
