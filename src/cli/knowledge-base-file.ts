import { stat } from 'node:fs/promises';
import { CommandError } from './failure.js';

/** @throws CommandError when there is no file of that name */
export async function requireFile(file: string, what: string): Promise<void> {
  const found = await stat(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') throw new CommandError(`${file}: the file does not exist`);
    throw new CommandError(`${file}: cannot be read: ${error.message}`, 1, { cause: error });
  });
  if (found.isDirectory()) throw new CommandError(`${file}: is a folder; ${what} is expected`);
}

export function requireKnowledgeBaseFile(file: string): Promise<void> {
  return requireFile(file, 'the config of a knowledge base, such as kb.json,');
}
