import { count, counted } from '../terminal/amounts.js';
import type { StorageFacts } from './knowledge.js';
import { listWithin, printableWithin } from './text.js';

/** Longest list of storages and fields in a description, in characters. Hosts put descriptions into every prompt. */
const longestList = 1500;

/** Longest list of the fields of one storage. */
const longestFields = 500;

/** What there is, for the instructions and the descriptions of tools. Undefined while the folders are being indexed. */
export interface Shown {
  readonly names: readonly string[];
  readonly storages: readonly StorageFacts[] | undefined;
}

/** Lines about the storages: names, numbers of records, fields and some of their values. */
export function storageLines({ names, storages }: Shown): string {
  if (storages === undefined)
    return `Storages: ${listWithin(names.map(quoted), longestList)} (being opened).`;
  const lines = storages.map(({ name, folder, records, fields }) => {
    const shown = fields.map(({ name, type, values }) => {
      const some = values.length === 0 ? '' : `: ${values.join(', ')}`;
      return `${printableWithin(name, 60)} (${type}${some})`;
    });
    const kind = folder === undefined ? 'knowledge base' : 'documents';
    const where = shown.length === 0 ? '' : `; fields: ${listWithin(shown, longestFields)}`;
    return `- ${quoted(name)}, ${kind}, ${counted(records, 'record')}${where}`;
  });
  return `Storages:\n${listWithin(lines, longestList, '\n')}`;
}

/** The instructions for the client's model. */
export function instructions(shown: Shown): string {
  const records = shown.storages?.reduce((sum, each) => sum + each.records, 0);
  const size = records === undefined ? '' : ` (${count(records)} ${records === 1 ? 'record' : 'records'})`;
  return `lorekeep searches the user's own documents and knowledge bases on this machine${size}. Use \`search\` before you answer a question about them, \`get\` to read a record whole, \`list\` to walk through the records, and \`ask\` for sentences that answer a question. Cite the place of every fact.\n\n${storageLines(shown)}`;
}

const quoted = (name: string) => JSON.stringify(name);
