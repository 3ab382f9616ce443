import { join } from 'node:path';

/** Returns the folder whose documents a storage has, as the user names it; undefined for a knowledge base. */
export type FolderOf = (storage: string) => string | undefined;

/** A record, as far as its place goes. */
export interface PlacedRecord {
  readonly storage: string;
  readonly id: string;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

/** Where a record is: path, headings and page of a document, else its id and storage. */
export function placeOf({ id, storage, metadata = {} }: PlacedRecord, folderOf: FolderOf): string {
  const { path: within, heading, page } = metadata;
  if (typeof within !== 'string') return `${id} (${storage})`;
  const folder = folderOf(storage);
  const path = folder === undefined ? within : join(folder, within);
  const above = typeof heading === 'string' && heading !== '' ? ` > ${heading}` : '';
  return `${path}${above}${page === undefined ? '' : `, page ${page}`}`;
}
