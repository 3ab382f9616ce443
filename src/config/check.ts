import { resolve } from 'node:path';
import { type ConfigProblem, parseConfig, readTextFile } from './file.js';
import { StartupError } from './startup-error.js';

/**
 * Everything that is wrong with a config file, errors first; empty: nothing is. Starts nothing and looks at no other
 * file. Never rejects: a file that is absent or cannot be read is a problem too.
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
