import { stat } from 'node:fs/promises';
import { CommandError, UsageError } from './failure.js';
import type { FailureCode } from './failure-codes.js';

/** @throws CommandError when there is no file of that name */
export async function requireFile(file: string, what: string): Promise<void> {
  const problem = await problemOf(file, what);
  if (problem !== undefined) throw new CommandError(problem.code, `${file}: ${problem.message}`);
}

/** The same for the file that a flag names. @throws UsageError */
export async function requireFileOfFlag(flag: string, file: string, what: string): Promise<void> {
  const problem = await problemOf(file, what);
  if (problem !== undefined) throw new UsageError(`${flag}: ${file}: ${problem.message}`);
}

export function requireKnowledgeBaseFile(file: string): Promise<void> {
  return requireFile(file, 'the config of a knowledge base, such as kb.json,');
}

async function problemOf(
  file: string,
  what: string,
): Promise<{ code: FailureCode; message: string } | undefined> {
  if (file === '') return { code: 'NOT_FOUND', message: `an empty name; ${what} is expected` };
  const found = await stat(file).catch((error: NodeJS.ErrnoException) => error);
  if (found instanceof Error) {
    if (found.code === 'ENOENT') return { code: 'NOT_FOUND', message: 'the file does not exist' };
    return { code: 'IO', message: `cannot be read: ${found.message}` };
  }
  if (!found.isDirectory()) return undefined;
  return { code: 'INVALID_ARGUMENT', message: `is a folder; ${what} is expected` };
}
