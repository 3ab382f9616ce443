import type { Document } from '@langchain/core/documents';
import { BaseRetriever, type BaseRetrieverInput } from '@langchain/core/retrievers';
import { type SearchFields, search } from './search.js';
import { Server, type ServerFields } from './server.js';

export interface LorekeepRetrieverFields extends BaseRetrieverInput, ServerFields, SearchFields {}

/** Retrieves documents of a storage, with its filter and the other options of its search. */
export class LorekeepRetriever extends BaseRetriever {
  lc_namespace = ['lorekeep', 'retrievers'];
  readonly #server: Server;
  readonly #fields: SearchFields;

  static override lc_name(): string {
    return 'LorekeepRetriever';
  }

  constructor(fields: LorekeepRetrieverFields) {
    super(fields);
    this.#server = new Server(fields);
    this.#fields = fields;
  }

  override async _getRelevantDocuments(query: string): Promise<Document[]> {
    return (await search(this.#server, this.#fields, query)).map(([document]) => document);
  }
}
