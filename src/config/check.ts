import { resolve } from 'node:path';
import { type ConfigProblem, parseConfig, readTextFile } from './file.js';
import { StartupError } from './startup-error.js';

/**
 * Returns all problems of a config file, errors first. Starts nothing and reads no other file. Never rejects: an absent or
 * unreadable file is a problem too.
 */
export async function checkServerConfig(file: string): Promise<ConfigProblem[]> {
  const path = resolve(file);
  try {
    const text = await readTextFile(path);
    if (text === undefined) return [{ severity: 'error', message: `${path}: the file does not exist` }];
    return parseConfig(path, text).problems;
  } catch (error) {
    if (!(error instanceof StartupError)) throw error;
    return [{ severity: 'error', message: error.message }];
  }
}
