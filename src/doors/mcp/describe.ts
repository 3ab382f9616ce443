import { count, counted } from '../../base/schema/counted.js';
import { longestName, type ShownStorage, type StorageFacts } from './knowledge.js';
import { listWithin, printableWithin, quotedWithin } from './text.js';

/** Longest list of storages and fields in a description, in characters. Hosts put descriptions into every prompt. */
const longestList = 1500;

/** Longest list of the fields of one storage. */
const longestFields = 500;

/** What there is, for the instructions and the descriptions of tools: facts of the storages that have been looked at. */
export type Shown = readonly (ShownStorage | StorageFacts)[];

/** Lines about the storages: names, numbers of records, fields and some of their values. */
export function storageLines(shown: Shown): string {
  if (shown.length === 0) return 'There are no storages.';
  return `Storages:\n${listWithin(shown.map(storageLine), longestList, '\n')}`;
}

function storageLine(storage: ShownStorage | StorageFacts): string {
  const { name, folder, writable } = storage;
  const kind = folder === undefined ? 'knowledge base' : 'documents';
  const begin = `- ${quotedWithin(name, longestName)}, ${kind}${writable ? ' that you may change' : ''}`;
  if (!('records' in storage)) return `${begin} (being opened)`;
  const fields = storage.fields.map(({ name, type, values }) => {
    const some = values.length === 0 ? '' : `: ${values.join(', ')}`;
    return `${printableWithin(name, 60)} (${type}${some})`;
  });
  const list = fields.length === 0 ? '' : `; fields: ${listWithin(fields, longestFields)}`;
  return `${begin}, ${counted(storage.records, 'record')}${list}`;
}

/** What each tool is for, in the instructions. */
const uses: Readonly<Record<string, string>> = {
  search: '`search` before you answer a question about them',
  get: '`get` to read a record whole',
  list: '`list` to walk through the records',
  ask: '`ask` for sentences that answer a question',
  remember: '`remember` to keep a text for later',
  forget: '`forget` to remove records for good, only if the user asks for it',
};

/** The instructions for the client's model. */
export function instructions(shown: Shown, tools: readonly string[]): string {
  const known = shown.filter((each) => 'records' in each);
  const records = known.reduce((sum, each) => sum + each.records, 0);
  const all = shown.length > 0 && known.length === shown.length;
  const size = all ? ` (${count(records)} ${records === 1 ? 'record' : 'records'})` : '';
  const use = tools.flatMap((name) => uses[name] ?? []);
  const how = use.length === 0 ? '' : ` Use ${listed(use)}. Cite the place of every fact.`;
  return `lorekeep searches the user's own documents and knowledge bases on this machine${size}.${how}\n\n${storageLines(shown)}`;
}

const listed = (parts: readonly string[]) =>
  parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')}, and ${parts.at(-1)}`;
