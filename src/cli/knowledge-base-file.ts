import { stat } from 'node:fs/promises';
import { CommandError, UsageError } from './failure.js';
import type { FailureCode } from './failure-codes.js';

/** @throws CommandError if there is no such file; UsageError for an empty name */
export async function requireFile(file: string, what: string): Promise<void> {
  if (file === '') throw new UsageError(`the name of the file is empty; ${what} is expected`);
  const problem = await problemOf(file, what, true);
  if (problem !== undefined) throw new CommandError(problem.code, `${file}: ${problem.message}`);
}

/** The same for the file that a flag names. @throws UsageError */
export async function requireFileOfFlag(flag: string, file: string, what: string): Promise<void> {
  if (file === '') throw new UsageError(`${flag}: the name is empty; ${what} is expected`);
  const problem = await problemOf(file, what, false);
  if (problem !== undefined) throw new UsageError(`${flag}: ${file}: ${problem.message}`);
}

export function requireKnowledgeBaseFile(file: string): Promise<void> {
  return requireFile(file, 'the config of a knowledge base, such as kb.json,');
}

async function problemOf(
  file: string,
  what: string,
  seekable: boolean,
): Promise<{ code: FailureCode; message: string } | undefined> {
  const found = await stat(file).catch((error: NodeJS.ErrnoException) => error);
  if (found instanceof Error) {
    if (found.code === 'ENOENT') return { code: 'NOT_FOUND', message: 'the file does not exist' };
    return { code: 'IO', message: `cannot be read: ${found.message}` };
  }
  if (found.isDirectory()) return { code: 'INVALID_ARGUMENT', message: `is a folder; ${what} is expected` };
  // A pipe cannot be read twice, and one without a writer blocks for ever.
  if (seekable && !found.isFile())
    return { code: 'UNSUPPORTED', message: `is not a regular file; ${what} is expected` };
  return undefined;
}
