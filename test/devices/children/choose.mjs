// argv: the name of a backend. Chooses it and prints the choice as one line of JSON. With LOREKEEP_BACKENDS, plugins that this
// checkout has built in backends are hidden: what is found does not depend on what was built.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const built = join(fileURLToPath(new URL('../../..', import.meta.url)), 'backends');
const { existsSync } = fs;
if (process.env.LOREKEEP_BACKENDS) {
  fs.existsSync = (path) => !String(path).startsWith(built) && existsSync(path);
  syncBuiltinESMExports();
}
const { useBackend } = await import('lorekeep');

const tell = (found) => console.log(JSON.stringify(found));
try {
  tell(await useBackend(process.argv[2]));
} catch (error) {
  tell({ code: error.code, message: error.message, candidates: error.detail?.candidates });
}
