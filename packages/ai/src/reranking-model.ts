import { APICallError, type RerankingModelV3, type RerankingModelV3CallOptions } from '@ai-sdk/provider';

interface Door {
  readonly baseURL: string;
  readonly headers: Record<string, string>;
  readonly apiKey: string | undefined;
  readonly fetch: typeof fetch;
}

/** A reranker of the server's catalog. */
export class LorekeepRerankingModel implements RerankingModelV3 {
  readonly specificationVersion = 'v3';
  readonly provider = 'lorekeep.reranking';
  readonly modelId: string;
  readonly #door: Door;

  constructor(modelId: string, door: Door) {
    this.modelId = modelId;
    this.#door = door;
  }

  /** @throws APICallError */
  async doRerank({ documents, query, topN, abortSignal, headers }: RerankingModelV3CallOptions) {
    const { baseURL, apiKey, fetch } = this.#door;
    const url = `${baseURL}/rerank`;
    const texts =
      documents.type === 'text' ? documents.values : documents.values.map((value) => JSON.stringify(value));
    const body = { model: this.modelId, query, documents: texts, ...(topN !== undefined && { top_n: topN }) };
    const given = Object.entries(headers ?? {}).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    );
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
        ...this.#door.headers,
        ...Object.fromEntries(given),
      },
      body: JSON.stringify(body),
      signal: abortSignal ?? null,
    });
    const responseBody = await response.text();
    if (!response.ok)
      throw new APICallError({
        message: errorIn(responseBody),
        url,
        requestBodyValues: body,
        statusCode: response.status,
        responseBody,
        isRetryable: response.status === 429 || response.status >= 500,
      });
    const { results } = JSON.parse(responseBody) as {
      results: { index: number; relevance_score: number }[];
    };
    return {
      ranking: results.map(({ index, relevance_score }) => ({ index, relevanceScore: relevance_score })),
      response: { modelId: this.modelId },
    };
  }
}

function errorIn(text: string): string {
  try {
    return (JSON.parse(text) as { error: { message: string } }).error.message;
  } catch {
    return text.slice(0, 500);
  }
}
