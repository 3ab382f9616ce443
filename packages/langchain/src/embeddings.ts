import { Embeddings, type EmbeddingsParams } from '@langchain/core/embeddings';
import { Server, type ServerFields } from './server.js';

export interface LorekeepEmbeddingsFields extends EmbeddingsParams, ServerFields {
  /** Catalog name of the embedding model. */
  model: string;
}

/** Texts per request; the server takes up to 2048. */
const perRequest = 512;

/** Embeddings of a model of the server, with the prefixes that its catalog states for queries and documents. */
export class LorekeepEmbeddings extends Embeddings {
  readonly model: string;
  readonly #server: Server;

  constructor({ model, url, apiKey, ...params }: LorekeepEmbeddingsFields) {
    super(params);
    this.model = model;
    this.#server = new Server({ ...(url !== undefined && { url }), ...(apiKey !== undefined && { apiKey }) });
  }

  async embedDocuments(documents: string[]): Promise<number[][]> {
    const all: number[][] = [];
    for (let at = 0; at < documents.length; at += perRequest)
      all.push(...(await this.#embed(documents.slice(at, at + perRequest), 'document')));
    return all;
  }

  async embedQuery(document: string): Promise<number[]> {
    const [vector] = await this.#embed([document], 'query');
    return vector as number[];
  }

  #embed(input: string[], input_type: 'query' | 'document'): Promise<number[][]> {
    return this.caller.call(async () => {
      const body = { model: this.model, input, input_type, encoding_format: 'float' };
      const { data } = await this.#server.post<{ data: { embedding: number[] }[] }>('/v1/embeddings', body);
      return data.map(({ embedding }) => embedding);
    });
  }
}
