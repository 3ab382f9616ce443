import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { LorekeepError } from '../../lib/index.js';
import { loadKnowledgeBaseConfig } from '../knowledge/config.js';
import { besideConfig, resolveFiles } from '../knowledge/paths.js';
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

/** The same error with what to do about it, where a command does it: an index that is absent or out of date. */
export async function withRemedy(error: unknown, file: string): Promise<unknown> {
  if (!(error instanceof LorekeepError)) return error;
  const { code, message, detail } = error;
  const absent = code === 'NOT_FOUND' && (detail.path ?? detail.file) === (await indexFile(file));
  const outdated = code === 'UNSUPPORTED' && detail.reason === 'fingerprint';
  if (!absent && !outdated) return error;
  return new LorekeepError(code, `${message}; build it: lorekeep build ${file}`, detail, { cause: error });
}

/** Absolute path of the index that a config names; undefined when there is none. */
async function indexFile(file: string): Promise<string | undefined> {
  try {
    const path = resolve(file);
    const { config } = await loadKnowledgeBaseConfig(path);
    return (await resolveFiles(config, besideConfig(path))).index;
  } catch {
    return undefined; // The error that is being told comes first.
  }
}
