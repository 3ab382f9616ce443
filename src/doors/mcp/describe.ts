import { count, counted } from '../../base/schema/counted.js';
import type { ShownStorage, StorageFacts } from './knowledge.js';
import { fieldName, listWithin, longestName, quotedWithin } from './text.js';

/** Longest list of storages and fields in a description, in characters. Hosts put descriptions into every prompt. */
const longestList = 1500;

/** Longest list of the fields of one storage. */
const longestFields = 500;

/** Room for the number of fields that are left out. */
const moreWords = ', and 65,535 more'.length;

/** What there is, for the instructions and the descriptions of tools: facts of the storages that have been looked at. */
export type Shown = readonly (ShownStorage | StorageFacts)[];

/** Lines about the storages: names, numbers of records, fields and some of their values. Names come first: fields take the room that these leave. */
export function storageLines(shown: Shown): string {
  if (shown.length === 0) return 'There are no storages.';
  const heads = shown.map(storageHead);
  const taken = heads.reduce((sum, { length }) => sum + length + 1, 0);
  const most = Math.min(longestFields, Math.floor((longestList - taken) / shown.length));
  const lines = shown.map((storage, index) => `${heads[index]}${fieldList(storage, most)}`);
  return `Storages:\n${listWithin(lines, longestList, '\n')}`;
}

function storageHead(storage: ShownStorage | StorageFacts): string {
  const { name, folder, writable } = storage;
  const kind = folder === undefined ? 'knowledge base' : 'documents';
  const begin = `- ${quotedWithin(name, longestName)}, ${kind}${writable ? ' that you may change' : ''}`;
  return 'records' in storage ? `${begin}, ${counted(storage.records, 'record')}` : `${begin} (being opened)`;
}

/** The fields of a storage, at most `most` characters: with values if these fit, else without, else their number or nothing. */
function fieldList(storage: ShownStorage | StorageFacts, most: number): string {
  if (!('records' in storage) || storage.fields.length === 0) return '';
  const named = storage.fields.map(({ name, type, values }) => {
    const begin = `${fieldName(name, 60)} (${type}`;
    return {
      short: `${begin})`,
      long: values.length === 0 ? `${begin})` : `${begin}: ${values.join(', ')})`,
    };
  });
  const room = most - '; fields: '.length - moreWords;
  const lists = [
    ...[named.map(({ long }) => long), named.map(({ short }) => short)].map(
      (list) => `; fields: ${listWithin(list, room)}`,
    ),
    `; ${counted(named.length, 'field')}`,
  ];
  return lists.find(({ length }) => length <= most) ?? '';
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
