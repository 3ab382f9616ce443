import { readdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describeModel } from '../../lib/internal.js';

/** A language model in the folder of models. */
export interface FoundModel {
  /** Name of the file. */
  name: string;
  path: string;
}

/** Minimum context of a model that can answer from documents, in tokens. */
const minContext = 2048;

/** The folder of models: LOREKEEP_MODELS, else `shared/models` beside the project. */
export function modelsFolder(projectFolder: string): string {
  return resolve(process.env.LOREKEEP_MODELS || join(projectFolder, '..', 'shared', 'models'));
}

/** Returns the smallest language model of a folder, or undefined if there is none. */
export async function findLanguageModel(folder: string): Promise<FoundModel | undefined> {
  const names = await readdir(folder).catch(() => []);
  const files = await Promise.all(
    names
      .filter((name) => name.endsWith('.gguf'))
      .map(async (name) => ({
        name,
        path: join(folder, name),
        bytes: (await stat(join(folder, name))).size,
      })),
  );
  for (const { name, path } of files.sort((a, b) => a.bytes - b.bytes))
    if (await isLanguageModel(path)) return { name, path };
  return undefined;
}

/** Whether a model's header says that it generates text and has room for documents. */
async function isLanguageModel(path: string): Promise<boolean> {
  const header = await describeModel(path).catch(() => undefined);
  if (header === undefined || header.poolingType !== undefined || header.architecture === 'bert')
    return false;
  return (header.contextLength ?? 0) >= minContext;
}
