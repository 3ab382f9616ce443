import { basename } from 'node:path';

/** Returns the name that calls lorekeep in a suggested command. npx adds its folder to PATH for this process only. */
export function commandName(): string {
  const byNpx = process.env.npm_command === 'exec' && basename(process.argv[1] ?? '') === 'lorekeep';
  return byNpx ? 'npx lorekeep' : 'lorekeep';
}

/** Quotes a text as one word of a shell, if it needs quotes. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./\\-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Quotes a text for a shell with double quotes, which are easier to read, where they can hold it. */
export function shellText(text: string): string {
  return /["$`\\!]/.test(text) ? shellWord(text) : `"${text}"`;
}
