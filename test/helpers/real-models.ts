/** Real models are not part of the project: LOREKEEP_MODELS names their folder. Tests without them are left out. */
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..');
export const modelsFolder: string = resolve(
  process.env.LOREKEEP_MODELS ?? join(root, '..', 'shared', 'models'),
);

export const stories = 'stories260K.gguf';
export const smolLm = 'SmolLM2-135M-Instruct.Q4_1.gguf';

/** The path of a real model, which may be absent. */
export const realModel = (name: string): string => join(modelsFolder, name);

/** Whether the models are there; prints the reason for leaving tests out if not. */
export function haveModels(...names: string[]): boolean {
  const missing = names.filter((name) => !existsSync(realModel(name)));
  if (missing.length > 0)
    console.log(`left out: no ${missing.join(', ')} in ${modelsFolder}; LOREKEEP_MODELS names their folder`);
  return missing.length === 0;
}
