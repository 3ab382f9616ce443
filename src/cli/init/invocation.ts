import { existsSync } from 'node:fs';
import { basename, delimiter, join } from 'node:path';
import { commandName, shellWord } from '../../base/schema/shell-word.js';

/** The command that started this program. Suggested commands use it, so that they work in any folder. */
export function invocation(): string {
  const [, script = ''] = process.argv;
  if (basename(script) === 'lorekeep') {
    if (commandName() !== 'lorekeep' || onPath('lorekeep')) return commandName();
  }
  return `node ${shellWord(script)}`;
}

function onPath(name: string): boolean {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.some((folder) => folder !== '' && existsSync(join(folder, name)));
}
