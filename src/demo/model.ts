import { existsSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { createTinyModel } from '../tiny-model/index.js';
import { replaceFile } from './folder.js';

/** The catalog to serve, and the model of it to embed with. */
export interface DemoModel {
  catalog: string;
  name: string;
  /** For people. */
  description: string;
}

/** The embedding model that comes with the package, or a tiny one made of `texts` in `folder` where that is absent. */
export async function demoModel(
  projectFolder: string,
  folder: string,
  texts: readonly string[],
): Promise<DemoModel> {
  const data = join(projectFolder, 'data');
  if (existsSync(join(data, 'models', 'lorekeep-mini.gguf'))) {
    const description = 'lorekeep-mini, which comes with the package';
    return { catalog: join(data, 'models.json'), name: 'lorekeep-mini', description };
  }
  return tinyModel(folder, texts);
}

async function tinyModel(folder: string, texts: readonly string[]): Promise<DemoModel> {
  const name = 'tiny';
  const temporary = join(folder, `tiny.${process.pid}.gguf`);
  const { tokens, bytes } = await createTinyModel({ texts, path: temporary });
  await rename(temporary, join(folder, 'tiny.gguf'));
  const catalog = join(folder, 'models.json');
  const model = { name, model_type: 'embedding', variants: [{ name: 'f16', file: 'tiny.gguf' }] };
  await replaceFile(catalog, `${JSON.stringify({ version: 1, models: [model] }, undefined, 2)}\n`);
  const size = `${(bytes / 1e6).toFixed(1)} MB`;
  return { catalog, name, description: `a tiny one made from these documents: ${tokens} tokens, ${size}` };
}
