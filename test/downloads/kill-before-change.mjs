// Kills this process before its change number KILL_BEFORE_CHANGE of the file system, and names the operation on stderr.
import { writeSync } from 'node:fs';
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

const last = Number(process.env.KILL_BEFORE_CHANGE);
let changes = 0;

function killable(object, name) {
  const original = object[name];
  object[name] = function (...parameters) {
    changes++;
    if (changes === last) {
      writeSync(2, name);
      process.kill(process.pid, 'SIGKILL');
      for (;;); // The signal may arrive a moment later.
    }
    return original.apply(this, parameters);
  };
}

for (const name of ['open', 'rename', 'rm', 'link', 'utimes']) killable(promises, name);
const file = await promises.open(process.execPath);
for (const name of ['appendFile', 'writeFile', 'truncate', 'sync'])
  killable(Object.getPrototypeOf(file), name);
await file.close();
changes = 0;
syncBuiltinESMExports();
