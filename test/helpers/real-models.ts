/** Real models are not part of the project: LOREKEEP_MODELS and LOREKEEP_REAL_MODELS name their folders. Tests without them are left out. */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..');
export const modelsFolder: string = resolve(
  process.env.LOREKEEP_MODELS ?? join(root, '..', 'shared', 'models'),
);

export const stories = 'stories260K.gguf';
export const smolLm = 'SmolLM2-135M-Instruct.Q4_1.gguf';

const weightsFolder = resolve(
  process.env.LOREKEEP_REAL_MODELS ?? join(homedir(), '.cache', 'lorekeep-real-models'),
);

export const multilingualE5: string = join(weightsFolder, 'multilingual-e5-small-q8_0.gguf');
export const gemma: string = join(weightsFolder, 'gemma-3-270m-q4_k_m.gguf');

/** Whether such weights are there; prints the reason for leaving tests out if not. */
export function haveWeights(path: string): boolean {
  const isThere = existsSync(path);
  if (!isThere) console.log(`left out: no ${path}; LOREKEEP_REAL_MODELS names its folder`);
  return isThere;
}

/** The path of a real model, which may be absent. */
export const realModel = (name: string): string => join(modelsFolder, name);

/** Whether the models are there; prints the reason for leaving tests out if not. */
export function haveModels(...names: string[]): boolean {
  const missing = names.filter((name) => !existsSync(realModel(name)));
  if (missing.length > 0)
    console.log(`left out: no ${missing.join(', ')} in ${modelsFolder}; LOREKEEP_MODELS names their folder`);
  return missing.length === 0;
}
