/** A server of models with OpenAI's interface that answers as a test says. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface AskedOfServer {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  // biome-ignore lint/suspicious/noExplicitAny: whatever the client sends
  readonly body: any;
  /** Resolves when the client has closed the connection before the answer ended. */
  readonly aborted: Promise<void>;
}

export type Answerer = (asked: AskedOfServer, response: ServerResponse) => unknown;

/** Numbers of the vectors of the usual answers. */
export const remoteDimension = 8;

/** A vector that depends on the words of a text. Texts with a word in common are nearer. */
export function vectorOf(text: string, dimension = remoteDimension, seed = 7): number[] {
  const vector = new Array<number>(dimension).fill(0.01);
  for (const word of text.toLowerCase().match(/\w+/g) ?? []) {
    let hash = seed;
    for (const letter of word) hash = (hash * 31 + letter.charCodeAt(0)) % 1_000_003;
    for (let at = 0; at < dimension; at++) {
      hash = (hash * 48_271) % 2_147_483_647;
      vector[at] = (vector[at] as number) + (hash / 2_147_483_647 - 0.5);
    }
  }
  return vector;
}

export const sendJson = (response: ServerResponse, body: unknown, status = 200, headers = {}) => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
};

/** The usual answer to a request for embeddings. */
export const embeddingsOf = (input: readonly string[], vector = (text: string) => vectorOf(text)) => ({
  object: 'list',
  data: input.map((text, index) => ({ object: 'embedding', index, embedding: vector(text) })),
  usage: { prompt_tokens: input.length * 3, total_tokens: input.length * 3 },
});

/** Ranks documents by the number of words that they have in common with a query. */
export const ranksOf = (query: string, documents: readonly string[]) => {
  const wanted = new Set(query.toLowerCase().match(/\w{4,}/g));
  const results = documents.map((document, index) => {
    const found = new Set(
      document
        .toLowerCase()
        .match(/\w+/g)
        ?.filter((word) => wanted.has(word)),
    );
    return { index, relevance_score: found.size };
  });
  return { results: results.toReversed(), usage: { prompt_tokens: documents.length * 5 } };
};

/** Sends server-sent events. `ends`: whether the answer ends after them. */
export function sendEvents(response: ServerResponse, events: readonly unknown[], ends = true): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events)
    response.write(`data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`);
  if (ends) response.end();
}

/** The usual answer to a request for a reply. */
export const replyEvents = (text: string) => [
  ...text.split(/(?<= )/).map((content) => ({ choices: [{ index: 0, delta: { content } }] })),
  { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
  { choices: [], usage: { prompt_tokens: 30, completion_tokens: 4 } },
  '[DONE]',
];

/** Answers as a well-behaved server; reranks by the number of common words, and replies "Hello, kind world." */
export const wellBehaved: Answerer = ({ path, body }, response) => {
  if (path.endsWith('/embeddings')) return sendJson(response, embeddingsOf(body.input));
  if (path.endsWith('/rerank')) return sendJson(response, ranksOf(body.query, body.documents));
  if (path.endsWith('/chat/completions')) return sendEvents(response, replyEvents('Hello, kind world.'));
  sendJson(response, { error: { message: 'not found' } }, 404);
};

export class FakeModelServer {
  readonly requests: AskedOfServer[] = [];
  answer: Answerer;
  readonly url: string;
  private readonly server: Server;

  private constructor(server: Server, answer: Answerer, protocol: string) {
    this.server = server;
    this.answer = answer;
    this.url = `${protocol}://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  }

  /** Listens until the test ends. `tls`: key and certificate */
  static async start(
    answer: Answerer = wellBehaved,
    tls?: { key: string; cert: string },
  ): Promise<FakeModelServer> {
    const take = (request: IncomingMessage, response: ServerResponse) => void fake.take(request, response);
    const server = tls === undefined ? createServer(take) : createTlsServer(tls, take);
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    const fake = new FakeModelServer(server, answer, tls === undefined ? 'http' : 'https');
    onTestFinished(() => fake.stop());
    return fake;
  }

  /** Texts of all requests for embeddings so far, without those of the probe. */
  get inputs(): string[][] {
    return this.requests.map(({ body }) => body.input).filter((input) => !input?.includes(probeText));
  }

  /** Refuses connections from now on. */
  stop(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  /** Listens again, at the same address. */
  async restart(): Promise<void> {
    await new Promise<void>(
      (resolve) => void this.server.listen(Number(new URL(this.url).port), '127.0.0.1', resolve),
    );
  }

  private async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const aborted = new Promise<void>((resolve) =>
      response.on('close', () => {
        if (!response.writableFinished) resolve();
      }),
    );
    const parts: Buffer[] = [];
    try {
      for await (const part of request) parts.push(part);
      const body = JSON.parse(Buffer.concat(parts).toString());
      const asked = { path: request.url ?? '', headers: request.headers, body, aborted };
      this.requests.push(asked);
      await this.answer(asked, response);
    } catch (error) {
      response.destroy(error as Error);
    }
  }
}

/** The first text by which a model is known again. */
export const probeText = 'The lighthouse keeper counts the ships.';
