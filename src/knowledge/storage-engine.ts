import type { Filter, FilterExpression, Storage } from '../../lib/internal.js';

/** Methods that every engine has as the embedded one. */
type Shared = Pick<
  Storage,
  | 'size'
  | 'dimension'
  | 'tokenizer'
  | 'fields'
  | 'memoryBytes'
  | 'version'
  | 'versions'
  | 'keepVersions'
  | 'documentFrequency'
  | 'checkLexical'
  | 'search'
  | 'searchInSlices'
  | 'addHighlights'
  | 'get'
  | 'getMany'
  | 'has'
  | 'known'
  | 'list'
  | 'count'
  | 'embedding'
  | 'recordsAt'
  | 'distinct'
  | 'update'
  | 'forget'
  | 'close'
  | 'closed'
>;

/**
 * What keeps the records of a knowledge base and searches them: the embedded Storage, or a client of a database. All methods have the
 * contracts of Storage's. A method that an engine cannot do rejects with UNSUPPORTED and names the engine.
 */
export interface StorageEngine extends Shared {
  /** Returns the newest version, which stays as it is until it is released. */
  pin(): StorageEngine & { release(): void };
  at(version: number): StorageEngine;
  keptFilter(expression: Filter | FilterExpression): Filter;
}
