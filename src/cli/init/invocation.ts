import { existsSync } from 'node:fs';
import { basename, delimiter, join } from 'node:path';

/** How this program was started, so that the commands that it suggests work as they are shown, in any folder. */
export function invocation(): string {
  const [, script = ''] = process.argv;
  if (basename(script) === 'lorekeep') {
    // npx says so, and puts its folder into PATH for this process alone.
    if (process.env.npm_command === 'exec') return 'npx lorekeep';
    if (onPath('lorekeep')) return 'lorekeep';
  }
  return `node ${quoted(script)}`;
}

/** As one word for a shell. */
export function quoted(text: string): string {
  return /^[\w@%+=:,./\\-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function onPath(name: string): boolean {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.some((folder) => folder !== '' && existsSync(join(folder, name)));
}
