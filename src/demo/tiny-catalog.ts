import { createHash } from 'node:crypto';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { createTinyModel, type TinyModelFacts } from '../tiny-model/index.js';

/** Name of the demonstration's model in its catalog. */
export const tinyModelName = 'tiny';

export interface TinyCatalog extends TinyModelFacts {
  /** The catalog file. */
  catalog: string;
}

/**
 * Makes the tiny model for `texts` and a catalog that names it, in the project's cache, or in the temporary folder when
 * that cannot be written. The folder's name is the texts' digest, so that servers beside each other do not disturb
 * one another: a model file in use is never written again with other content.
 */
export async function writeTinyCatalog(
  projectFolder: string,
  texts: readonly string[],
): Promise<TinyCatalog> {
  const digest = createHash('sha256').update(JSON.stringify(texts)).digest('hex').slice(0, 16);
  const folder = await writableFolder(projectFolder, digest);
  const path = join(folder, 'tiny.gguf');
  const temporary = join(folder, `tiny.${process.pid}.gguf`);
  const facts = await createTinyModel({ texts, path: temporary });
  await rename(temporary, path);
  const catalog = join(folder, 'models.json');
  const model = {
    name: tinyModelName,
    model_type: 'embedding',
    variants: [{ name: 'f16', file: 'tiny.gguf' }],
  };
  await writeFile(catalog, `${JSON.stringify({ version: 1, models: [model] }, undefined, 2)}\n`);
  return { ...facts, path, catalog };
}

async function writableFolder(projectFolder: string, digest: string): Promise<string> {
  const folder = join(projectFolder, '.cache', 'demo', digest);
  try {
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, '.writable'), '');
    return folder;
  } catch {
    const elsewhere = join(tmpdir(), `lorekeep-demo-${userInfo().username}`, digest);
    await mkdir(elsewhere, { recursive: true });
    return elsewhere;
  }
}
