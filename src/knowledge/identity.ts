import { stat } from 'node:fs/promises';
import { LorekeepError } from '../../lib/index.js';
import { loadKnowledgeBaseConfig } from './config.js';
import { type PathResolver, resolveFiles } from './paths.js';

/**
 * A text that is the same for two openings of a config file exactly when they read the same files: device, inode, size and
 * time of change of the config and of the files it names. Files that opening makes are not among them.
 * @throws as openKnowledgeBase() does for the config, and for absent files
 */
export async function fileIdentity(configPath: string, resolvePath: PathResolver): Promise<string> {
  const own = await identity(configPath);
  const { config } = await loadKnowledgeBaseConfig(configPath);
  const { records, index } = await resolveFiles(config, resolvePath);
  const named = index === undefined ? [records] : [records, index];
  return JSON.stringify([own, ...(await Promise.all(named.map(identity)))]);
}

async function identity(path: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeNs } = await stat(path, { bigint: true });
    return [dev, ino, size, mtimeNs].join(':');
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const detail = { file: path };
    if (code === 'ENOENT' || code === 'ENOTDIR')
      throw new LorekeepError('NOT_FOUND', `${path}: the file does not exist`, detail, { cause });
    throw new LorekeepError('IO', `${path}: cannot be read: ${message}`, detail, { cause });
  }
}
