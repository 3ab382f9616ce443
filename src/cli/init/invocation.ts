import { existsSync } from 'node:fs';
import { basename, delimiter, join } from 'node:path';
import { shellWord } from '../../schema/shell-word.js';

/** The command that started this program. Suggested commands use it, so that they work in any folder. */
export function invocation(): string {
  const [, script = ''] = process.argv;
  if (basename(script) === 'lorekeep') {
    // npx adds its folder to PATH for this process only.
    if (process.env.npm_command === 'exec') return 'npx lorekeep';
    if (onPath('lorekeep')) return 'lorekeep';
  }
  return `node ${shellWord(script)}`;
}

function onPath(name: string): boolean {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.some((folder) => folder !== '' && existsSync(join(folder, name)));
}
