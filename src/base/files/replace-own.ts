import { LorekeepError } from '../../../lib/boundary/errors.js';
import { type ReplaceRule, replaceFile } from '../../../lib/os/regular-file.js';

/** Largest file in bytes that is read to decide whether it is ours. */
const maxBytes = 1024 * 1024 * 1024;

/**
 * Writes a temporary file next to `path` and renames it. No symbolic link may be at `path`: an existing file must be empty, or a
 * regular file for which `isOurs` holds. @throws INVALID_ARGUMENT for another file, IO
 */
export async function replaceOwn(path: string, text: string, isOurs: ReplaceRule['isOurs']): Promise<void> {
  try {
    await replaceFile(path, text, { isOurs, maxBytes });
  } catch (cause) {
    if (cause instanceof LorekeepError) throw cause;
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === 'ELOOP') {
      const reason = 'is a symbolic link, so it is not replaced; choose another path';
      throw LorekeepError.about('INVALID_ARGUMENT', { file: path, reason }, { cause });
    }
    throw LorekeepError.about('IO', { file: path, reason: `cannot be written: ${message}` }, { cause });
  }
}

/** Returns a rule: the file is a JSON object with these fields. */
export function isJsonWith(fields: (object: Record<string, unknown>) => boolean): ReplaceRule['isOurs'] {
  return (content) => {
    try {
      const value: unknown = JSON.parse(content);
      return typeof value === 'object' && value !== null && fields(value as Record<string, unknown>);
    } catch {
      return false;
    }
  };
}
