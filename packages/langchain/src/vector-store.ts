import type { Document, DocumentInterface } from '@langchain/core/documents';
import { Embeddings, type EmbeddingsInterface } from '@langchain/core/embeddings';
import { VectorStore } from '@langchain/core/vectorstores';
import { type Filter, type SearchFields, search } from './search.js';
import { recordsOf, Server, type ServerFields } from './server.js';

export interface LorekeepVectorStoreFields extends ServerFields, Pick<SearchFields, 'storage' | 'search'> {}

/** Documents per batch. Each batch is applied whole. */
const perBatch = 1000;

/** Searches take texts, which the server embeds. */
class ByTheServer extends Embeddings {
  embedDocuments(): Promise<number[][]> {
    return refuse();
  }

  embedQuery(): Promise<number[]> {
    return refuse();
  }
}

const refuse = (): Promise<never> =>
  Promise.reject(new Error('the storage has an embedding model of its own: it takes texts, not vectors'));

/**
 * A storage of `http.storages` as a vector store: dense, lexical or hybrid search with filters. Texts are embedded by the server,
 * so the first argument is ignored. Adding and deleting need a `writable` storage. Fields that the storage does not declare are
 * dropped from metadata.
 */
export class LorekeepVectorStore extends VectorStore {
  declare FilterType: Filter;
  readonly #server: Server;
  readonly #fields: LorekeepVectorStoreFields;

  constructor(_embeddings: EmbeddingsInterface | undefined, fields: LorekeepVectorStoreFields) {
    super(new ByTheServer({}), { storage: fields.storage });
    this.#fields = fields;
    this.#server = new Server(fields);
  }

  _vectorstoreType(): string {
    return 'lorekeep';
  }

  /** Adds documents, or replaces those with their ids. Returns the ids. @throws LorekeepError */
  override async addDocuments(
    documents: DocumentInterface[],
    options: { ids?: string[] } = {},
  ): Promise<string[]> {
    const records = documents.map(({ id, pageContent, metadata }, index) => ({
      id: options.ids?.[index] ?? id ?? crypto.randomUUID(),
      text: pageContent,
      metadata,
    }));
    for (let at = 0; at < records.length; at += perBatch)
      await this.#server.post(recordsOf(this.#fields.storage), {
        add: records.slice(at, at + perBatch),
        upsert: true,
      });
    return records.map(({ id }) => id);
  }

  /** @throws always: the server embeds texts itself */
  override addVectors(): Promise<never> {
    return refuse();
  }

  /** Deletes the documents with these ids; ids without one are left out. @throws LorekeepError */
  override async delete({ ids }: { ids: string[] }): Promise<void> {
    const records = recordsOf(this.#fields.storage);
    for (let at = 0; at < ids.length; at += perBatch) {
      const some = [...new Set(ids.slice(at, at + perBatch))];
      const { missing } = await this.#server.post<{ missing: string[] }>(`${records}/get`, { ids: some });
      const gone = new Set(missing);
      const remove = some.filter((id) => !gone.has(id));
      if (remove.length > 0) await this.#server.post(records, { remove });
    }
  }

  /** Returns the documents with these ids, in their order; ids without one are left out. @throws LorekeepError */
  async getByIds(ids: string[]): Promise<Document[]> {
    const found: Document[] = [];
    for (let at = 0; at < ids.length; at += perBatch) {
      const some = ids.slice(at, at + perBatch);
      const { records } = await this.#server.post<{
        records: { id: string; text: string; metadata?: Record<string, unknown> }[];
      }>(`${recordsOf(this.#fields.storage)}/get`, { ids: some });
      found.push(
        ...records.map(({ id, text, metadata = {} }) => ({ id, pageContent: text, metadata }) as Document),
      );
    }
    return found;
  }

  override async similaritySearch(query: string, k?: number, filter?: Filter): Promise<Document[]> {
    return (await this.similaritySearchWithScore(query, k, filter)).map(([document]) => document);
  }

  override similaritySearchWithScore(query: string, k = 4, filter?: Filter): Promise<[Document, number][]> {
    const { storage, search: more } = this.#fields;
    const fields = {
      ...{ storage, k },
      ...(more !== undefined && { search: more }),
      ...(filter !== undefined && { filter }),
    };
    return search(this.#server, fields, query);
  }

  /** @throws always: the server embeds queries itself */
  override similaritySearchVectorWithScore(): Promise<never> {
    return refuse();
  }

  static override async fromDocuments(
    documents: DocumentInterface[],
    embeddings: EmbeddingsInterface | undefined,
    fields: LorekeepVectorStoreFields,
  ): Promise<LorekeepVectorStore> {
    const store = new LorekeepVectorStore(embeddings, fields);
    await store.addDocuments(documents);
    return store;
  }

  static override fromTexts(
    texts: string[],
    metadatas: object[] | object,
    embeddings: EmbeddingsInterface | undefined,
    fields: LorekeepVectorStoreFields,
  ): Promise<LorekeepVectorStore> {
    const documents = texts.map((pageContent, index) => ({
      pageContent,
      metadata: ((Array.isArray(metadatas) ? metadatas[index] : metadatas) ?? {}) as Record<string, unknown>,
    }));
    return LorekeepVectorStore.fromDocuments(documents, embeddings, fields);
  }
}
