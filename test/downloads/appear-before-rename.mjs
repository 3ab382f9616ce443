// Writes a file of somebody else to the name of a download just before the download gets it.
import { writeFileSync } from 'node:fs';
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

for (const name of ['rename', 'link']) {
  const original = promises[name];
  promises[name] = function (from, to) {
    if (/\.gguf$/.test(to)) writeFileSync(to, 'dear diary', { flag: 'wx' });
    return original.call(this, from, to);
  };
}
syncBuiltinESMExports();
