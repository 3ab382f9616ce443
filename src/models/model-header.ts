import { stat } from 'node:fs/promises';
import type { Pooling } from '../../lib/index.js';
import { describeModel, type ModelDescription } from '../../lib/internal.js';
import { partNames } from '../base/files/model-parts.js';

/** Headers kept in memory: a header takes about a kilobyte, and reading one takes as long as its vocabulary is large. */
const maxHeaders = 200;

const known = new Map<string, ModelDescription>();

/**
 * Returns the header of a GGUF model. It is read once per file: device, inode, size and times tell whether the file is the same.
 * @throws as describeModel()
 */
export async function modelHeader(path: string, pooling?: Pooling): Promise<ModelDescription> {
  const identity = await identityOf(path);
  const key = identity && `${pooling ?? ''} ${identity}`;
  const kept = key && known.get(key);
  if (kept) return kept;
  const header = await describeModel(path, { pooling });
  // A file that was changed meanwhile has another identity now.
  if (key && identity === (await identityOf(path))) remember(key, header);
  return header;
}

function remember(key: string, header: ModelDescription): void {
  known.set(key, header);
  for (const oldest of [...known.keys()].slice(0, Math.max(0, known.size - maxHeaders))) known.delete(oldest);
}

/** Returns undefined if a file cannot be looked at. */
async function identityOf(path: string): Promise<string | undefined> {
  const identities: string[] = [];
  for (const part of partNames(path)) {
    const found = await stat(part, { bigint: true }).catch(() => undefined);
    if (found === undefined) return undefined;
    const { dev, ino, size, mtimeNs, ctimeNs } = found;
    identities.push([part, dev, ino, size, mtimeNs, ctimeNs].join(':'));
  }
  return identities.join(' ');
}
