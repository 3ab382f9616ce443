import type { PageAnswer } from '../../src/doors/page/ask.js';
import type { DocumentPart, Passage } from '../../src/doors/page/document.js';
import type { FieldFacts } from '../../src/doors/page/field-facts.js';
import type { PageAnswerer, PageState, PageStorage } from '../../src/doors/page/page-state.js';
import type { Hit, RetrievalPlan } from '../../src/protocol/retrieval.js';
import { readEvents } from './events.js';

export type { DocumentPart, FieldFacts, Hit, PageAnswer, PageAnswerer, PageState, PageStorage, Passage };

export interface Found {
  readonly hits: readonly Hit[];
  readonly plan: RetrievalPlan;
}

const passKey = 'lorekeep-pass';

/** The server wants a secret, or another one. */
export class NeedsKey extends Error {}

/** The server has ended, or cannot be reached. */
export class LostServer extends Error {
  constructor(message = 'the server does not answer') {
    super(message);
  }
}

export function keepKey(key: string): void {
  sessionStorage.setItem(passKey, key);
}

/** Whether this tab has a secret, right or wrong. */
export const hasKey = () => sessionStorage.getItem(passKey) !== null;

/** The secret travels in a header: cookies of this machine go to every port. */
async function send(path: string, options: RequestInit = {}): Promise<Response> {
  const pass = sessionStorage.getItem(passKey);
  const headers = {
    ...(pass !== null && { authorization: `Bearer ${pass}` }),
    ...(options.body !== undefined && { 'content-type': 'application/json' }),
  };
  const response = await fetch(path, {
    ...options,
    headers,
    credentials: 'omit',
    referrerPolicy: 'no-referrer',
  }).catch(asLost);
  if (response.ok) return response;
  const { error } = (await response.json().catch(() => ({}))) as { error?: { message?: string } };
  const message = error?.message ?? `status ${response.status}`;
  throw response.status === 401 ? new NeedsKey(message) : new Error(message);
}

/** Browsers tell every failure of a connection as a TypeError, each in its own words. */
function asLost(error: unknown): never {
  throw error instanceof TypeError ? new LostServer() : error;
}

const json = async <T>(response: Response): Promise<T> => (await response.json().catch(asLost)) as T;

const get = async <T>(path: string, signal?: AbortSignal): Promise<T> =>
  json(await send(path, signal && { signal }));

const post = (path: string, body: object, signal: AbortSignal) =>
  send(path, { method: 'POST', body: JSON.stringify(body), signal });

/** A server that has not told its state by then is taken as lost, in ms. */
const patienceMs = 15_000;

export const getState = () => get<PageState>('/page/state', AbortSignal.timeout(patienceMs));

export const getStorage = (name: string) => get<PageStorage>(`/page/storages/${encodeURIComponent(name)}`);

export function getDocument(storage: string, id: string, offset?: number): Promise<DocumentPart> {
  const query = new URLSearchParams({ storage, id, ...(offset !== undefined && { offset: String(offset) }) });
  return get(`/page/document?${query}`);
}

export async function search(body: object, signal: AbortSignal): Promise<Found> {
  return json(await post('/v1/search', body, signal));
}

export interface AskHandlers {
  /** The model is loaded. */
  onBegun(): void;
  onText(kind: 'reply' | 'thinking', text: string): void;
}

/** Asks, and returns the answer once it is whole. @throws NeedsKey, LostServer, Error with the server's reason; the signal's reason */
export async function ask(body: object, signal: AbortSignal, handlers: AskHandlers): Promise<PageAnswer> {
  let answer: PageAnswer | undefined;
  const { body: stream } = await post('/page/ask', body, signal);
  for await (const { name, data } of readEvents(stream as ReadableStream<Uint8Array>, asLost)) {
    if (name === 'answer') answer = JSON.parse(data) as PageAnswer;
    if (name === 'error') throw new Error((JSON.parse(data) as { error: { message: string } }).error.message);
    if (name === 'begun') handlers.onBegun();
    if (name === 'text') {
      const { kind, text } = JSON.parse(data) as { kind: 'reply' | 'thinking'; text: string };
      handlers.onText(kind, text);
    }
  }
  if (answer === undefined) throw new LostServer();
  return answer;
}
