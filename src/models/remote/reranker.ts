import { createHash } from 'node:crypto';
import type { LorekeepError, Ranking } from '../../../lib/internal.js';
import { remoteDevice } from '../opener.js';
import { countOf, objectOf, wholeCharacters } from './answer.js';
import { elsewhere } from './elsewhere.js';
import { RemoteModelError } from './remote-model-error.js';
import type { RemoteServer } from './remote-server.js';

/** Bytes of a result, without its document. */
const bytesPerResult = 512;
const otherBytes = 65_536;
/** A document that is cut to fewer characters leaves the query no room. */
const shortestDocument = 8;

interface Ranks {
  readonly scores: Float64Array;
  /** Positions of documents that were cut. */
  readonly truncated: number[];
  tokens: number;
}

/** A reranker that another server computes. */
export class RemoteReranker {
  readonly facts: { fingerprint: string; contextSize: number; device: string };
  readonly #server: RemoteServer;

  constructor(server: RemoteServer, contextSize: number) {
    const { model, revision = '' } = server.settings;
    const identity = JSON.stringify(['remote', model, revision]);
    const fingerprint = createHash('sha256').update(identity).digest('hex').slice(0, 16);
    this.#server = server;
    this.facts = { fingerprint, contextSize, device: remoteDevice };
  }

  /**
   * As Reranker.rank(); the scores are those of the server. Documents that are too long for it are cut.
   * @throws RemoteModelError, with the code TEXT_TOO_LONG for a query that leaves no room; CLOSED; the signal's reason
   */
  async rank(
    query: string,
    documents: readonly string[],
    { signal = new AbortController().signal }: { signal?: AbortSignal | undefined } = {},
  ): Promise<Ranking> {
    const { batch_texts, batch_bytes } = this.#server.settings;
    const ranks: Ranks = { scores: new Float64Array(documents.length), truncated: [], tokens: 0 };
    for (let begin = 0; begin < documents.length; ) {
      let end = begin;
      for (let bytes = 0; end < documents.length && end - begin < batch_texts; end++) {
        bytes += Buffer.byteLength(documents[end] as string);
        if (end > begin && bytes > batch_bytes) break;
      }
      await this.#score(query, documents.slice(begin, end), begin, ranks, signal);
      begin = end;
    }
    const results = Array.from(ranks.scores, (score, index) => ({ index, score }));
    results.sort((a, b) => b.score - a.score || a.index - b.index);
    return { results, truncated: ranks.truncated, tokens: ranks.tokens };
  }

  close(failing?: LorekeepError): Promise<void> {
    return this.#server.close(failing);
  }

  /** Scores a batch; halves it to find the documents that are too long, and cuts these. */
  async #score(
    query: string,
    documents: readonly string[],
    begin: number,
    ranks: Ranks,
    signal: AbortSignal,
  ): Promise<void> {
    try {
      const { scores, tokens } = await elsewhere(this.#server, signal, () =>
        request(this.#server, query, documents, signal),
      );
      ranks.scores.set(scores, begin);
      ranks.tokens += tokens;
    } catch (error) {
      if (!(error instanceof RemoteModelError) || error.kind !== 'too-long') throw error;
      const [first = ''] = documents;
      if (documents.length === 1) {
        if (first.length < shortestDocument) throw error;
        if (ranks.truncated.at(-1) !== begin) ranks.truncated.push(begin);
        const shorter = wholeCharacters(first.slice(0, first.length >> 1));
        return this.#score(query, [shorter], begin, ranks, signal);
      }
      const half = documents.length >> 1;
      await this.#score(query, documents.slice(0, half), begin, ranks, signal);
      await this.#score(query, documents.slice(half), begin + half, ranks, signal);
    }
  }
}

/** Scores documents in one request. @throws RemoteModelError; the signal's reason */
async function request(
  server: RemoteServer,
  query: string,
  documents: readonly string[],
  signal: AbortSignal,
): Promise<{ scores: Float64Array; tokens: number }> {
  const { api, model } = server.settings;
  const body =
    api === 'tei'
      ? { query, texts: documents, raw_scores: true }
      : { model, query, documents, top_n: documents.length, return_documents: false };
  // Some servers send the documents back, and JSON may escape each character.
  const sent = documents.reduce((sum, document) => sum + Buffer.byteLength(document), 0);
  const maxBytes = documents.length * bytesPerResult + 6 * sent + otherBytes;
  const answer = await server.post('/rerank', body, { maxBytes, signal });
  const { results = answer, usage } = objectOf(answer);
  const malformed = (problem: string) => new RemoteModelError('malformed', server, `answers ${problem}`);
  if (!Array.isArray(results)) throw malformed('without a list of scores; correct remote.url or remote.api');
  if (results.length !== documents.length)
    throw malformed(`with ${results.length} scores for ${documents.length} documents`);
  const scores = new Float64Array(documents.length).fill(Number.NaN);
  for (const result of results) {
    const { index, relevance_score, score = relevance_score } = objectOf(result);
    if (!Number.isInteger(index) || (index as number) < 0 || (index as number) >= documents.length)
      throw malformed('with the index of a document that it was not given');
    if (typeof score !== 'number' || !Number.isFinite(score))
      throw malformed('with a score that is not a finite number');
    if (!Number.isNaN(scores[index as number])) throw malformed('with two scores of one document');
    scores[index as number] = score;
  }
  const { total_tokens, prompt_tokens = total_tokens } = objectOf(usage);
  return { scores, tokens: countOf(prompt_tokens) };
}
