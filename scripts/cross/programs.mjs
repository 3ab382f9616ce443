import { existsSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { findProgram } from '../tool/command.mjs';

/** Where Debian puts programs that it leaves out of PATH. */
const outsidePath = { wine64: '/usr/lib/wine/wine64', wineserver: '/usr/lib/wine/wineserver' };

/** The path of a program, or of a file that is named by its path; undefined if it is absent. */
export const programPath = (name) =>
  (isAbsolute(name) ? undefined : findProgram(name)) ??
  [outsidePath[name] ?? name].find((path) => isAbsolute(path) && existsSync(path));
