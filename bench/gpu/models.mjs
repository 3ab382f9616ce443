// Writes random models, and says how long each took and how large it is. node bench/gpu/models.mjs NAME,...
import { statSync } from 'node:fs';
import { languageModel } from '../generation/models.mjs';

for (const name of process.argv[2].split(',')) {
  const begin = performance.now();
  const { path, reason } = await languageModel(name);
  if (reason) throw new Error(`${name}: ${reason}`);
  console.log(
    `${path}: ${statSync(path).size} bytes in ${((performance.now() - begin) / 1000).toFixed(1)} s`,
  );
}
