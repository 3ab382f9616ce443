import { isJsonWith } from '../../../lib/basics.js';
import { LorekeepError } from '../../../lib/internal.js';
import type { TableMapping } from '../../documents/tables/mapping.js';
import { statedTwice, withSearch } from '../search-config.js';
import { documentFields, ownFields, timeFields } from './options.js';
import { fileNames, indexFiles } from './place.js';

/** Whether a text is the config of an index, and no other program's. */
export const isIndexConfig = isJsonWith(({ records_file }) => records_file === fileNames.records);

/** More than a config with long lists of synonyms and stop words takes. */
export const maxConfigBytes = 16 * 1024 * 1024;

/** Returns the defaults of searches of a config: those that the user has set stay. @throws INVALID_ARGUMENT for one that is stated twice */
export function searchOf(config: string): object {
  if (!isIndexConfig(config)) return {};
  const present = JSON.parse(config);
  const [twice] = statedTwice(present);
  if (twice === undefined) return withSearch(present).search ?? {};
  const { path, message: reason } = twice;
  throw LorekeepError.about('INVALID_ARGUMENT', { field: path.join('.'), reason });
}

/** Returns the config of an index. */
export function configText(model: string, mapping: TableMapping | undefined, search: object): string {
  const types = { path: 'string', title: 'string', heading: 'string', page: 'int', mtime: 'int' } as const;
  const own = ownFields.map((name) => ({
    name,
    type: types[name],
    ...(timeFields.has(name) && { format: 'date-time' }),
    optional: true,
  }));
  const mapped = Object.entries({ ...documentFields, ...mapping?.fields }).map(([name, type]) => ({
    name,
    type,
    ...(type === 'int' && timeFields.has(name) && { format: 'date-time' }),
    optional: true,
  }));
  const config = {
    version: 1,
    embedding_model: model,
    records_file: fileNames.records,
    ...indexFiles,
    bm25_tokenizer: 'multilingual',
    search,
    fields: [...own, ...mapped],
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}
