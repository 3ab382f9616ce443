import { commandName, shellText, shellWord } from '../base/schema/shell-word.js';
import type { Catalog } from './catalog.js';

/** Returns the command that downloads a model of a catalog. */
export function pullCommand({ commandFlags }: Catalog, model: string): string {
  const name = /^[\w.]/.test(model) ? shellText(model) : `-- ${shellWord(model)}`;
  // Flags end before `--`.
  return [`${commandName()} models pull`, commandFlags, name].filter(Boolean).join(' ');
}
