import { setTimeout as delay } from 'node:timers/promises';
import { nextSlice } from '../../base/waiting/next-slice.js';
import { ServerError } from '../../protocol/errors.js';
import { refusalOf } from '../../storages/failure.js';
import type { DoorHost, DoorSession } from '../host.js';
import type { Exchange } from '../http/exchange.js';
import type { Shown } from './describe.js';
import { factsOf, type ShownStorage, type StorageFacts } from './knowledge.js';
import { hasEnvelope } from './methods.js';
import { checkedMessage, type ReadMessage, readMessage, refusal } from './request.js';
import { createMcpHandler, ProtocolErrorCode } from './sdk.js';
import { mcpServer } from './server.js';

/** Requests whose answers describe the storages. */
const describing: ReadonlySet<unknown> = new Set(['initialize', 'server/discover', 'tools/list']);

/** Most storages that are looked at for a description, which names the others. */
const mostLookedAt = 32;

/** A description waits this long for storages that are being opened, in ms. */
const patienceMs = 800;

/** Most streams of notifications. Each is a connection. */
const maxSubscriptions = 64;

/**
 * Serves MCP over streamable HTTP, all revisions of the protocol. It is stateless: each request is a session of its own, so there
 * are no sessions to be kept, found or stolen.
 */
export class McpHttpHandler {
  readonly #host: DoorHost;
  readonly #exchanges = new WeakMap<Request, { exchange: Exchange; describes: boolean }>();
  readonly #handler = createMcpHandler(
    async ({ requestInfo }) => {
      const served = requestInfo && this.#exchanges.get(requestInfo);
      if (served === undefined) throw new Error('a request of MCP without an exchange');
      return await this.#serverOf(served.exchange, served.describes);
    },
    { maxSubscriptions, onerror: (error) => this.#host.log.debug({ err: error.message }, 'mcp: refused') },
  );
  /** Facts by storage and version, as they were last found. */
  readonly #facts = new Map<string, { version: number; facts: StorageFacts }>();
  readonly #looking = new Map<string, Promise<void>>();
  /** By the storages that their clients may change. */
  readonly #storages = new Map<string, readonly ShownStorage[]>();
  readonly #lastShown = new WeakMap<
    readonly ShownStorage[],
    { facts: readonly (StorageFacts | undefined)[]; shown: Shown }
  >();

  /** How often records were forgotten. */
  #forgettings = 0;

  constructor(host: DoorHost) {
    this.#host = host;
    host.whenForgotten(async () => this.#forget());
  }

  /** Values of forgotten records may be among the facts. */
  #forget(): void {
    this.#forgettings++;
    this.#facts.clear();
    for (const storages of this.#storages.values()) this.#lastShown.delete(storages);
  }

  async serve(exchange: Exchange): Promise<void> {
    const read = await exchange.json().then(readMessage, unreadable);
    if (read.refusal !== undefined) return exchange.sendJson(read.refusal, 400);
    const exact = withDecimalTexts(read.message);
    const checked = checkedMessage(exact, exchange.grant.rights);
    if (checked.refusal !== undefined) {
      const isUnknown = checked.refusal.error.code === ProtocolErrorCode.MethodNotFound;
      // Revisions with a handshake have errors with the status of success.
      return exchange.sendJson(checked.refusal, isUnknown && hasEnvelope(exact.params) ? 404 : 200);
    }
    const { message } = checked;
    // Many requests may arrive in one turn of the event loop.
    await nextSlice();
    if (exchange.gone.aborted) return;
    const request = new Request(`http://localhost${exchange.url.pathname}`, {
      method: 'POST',
      headers: exchange.plainHeaders,
      signal: exchange.gone,
    });
    this.#exchanges.set(request, { exchange, describes: describing.has(message.method) });
    await exchange.relay(await this.#handler.fetch(request, { parsedBody: message }));
  }

  async #serverOf(exchange: Exchange, describes: boolean) {
    const { session, grant } = exchange;
    const storages = this.#storagesOf(session);
    const looks = describes && grant.rights.has('search');
    const shown = looks ? await this.#described(exchange, storages) : storages;
    // All who waited for a storage go on in one turn of the event loop.
    await nextSlice();
    exchange.gone.throwIfAborted();
    const { server } = mcpServer({
      shown,
      rights: grant.rights,
      whenOpen: async () => ({ session, storages, model: undefined }),
      explain: (error) => refusalOf(error, this.#host.log, { route: 'mcp' }).message,
    });
    return server;
  }

  /** The storages that a client sees; one list for all clients that may change the same ones. */
  #storagesOf(session: DoorSession): readonly ShownStorage[] {
    const names = Object.keys(this.#host.config.http.storages);
    const changed = names.filter((name) => session.mayChange(name));
    const key = JSON.stringify(changed);
    const known = this.#storages.get(key);
    if (known !== undefined) return known;
    const storages = names.map((name) => ({ name, writable: changed.includes(name) }));
    this.#storages.set(key, storages);
    return storages;
  }

  /** The storages with their facts, as far as these are known in time; the same list until one of them changes. */
  async #described(exchange: Exchange, storages: readonly ShownStorage[]): Promise<Shown> {
    const looked = storages.slice(0, mostLookedAt);
    const all = Promise.all(looked.map((storage) => this.#look(exchange, storage)));
    await Promise.race([all, delay(patienceMs, undefined, { ref: false })]);
    const facts = storages.map(({ name }) => this.#facts.get(name)?.facts);
    const last = this.#lastShown.get(storages);
    if (last?.facts.every((each, index) => each === facts[index])) return last.shown;
    const shown = storages.map((storage, index) => ({ ...facts[index], ...storage }));
    this.#lastShown.set(storages, { facts, shown });
    return shown;
  }

  /** Looks at a storage, once for all who wait for it. Never rejects. */
  #look(exchange: Exchange, storage: ShownStorage): Promise<void> {
    const { name } = storage;
    const begun = this.#looking.get(name);
    if (begun !== undefined) return begun;
    const looking = this.#find(exchange, storage)
      .catch((error) => void this.#host.log.debug({ storage: name, err: error }, 'mcp: not described'))
      .finally(() => this.#looking.delete(name));
    this.#looking.set(name, looking);
    return looking;
  }

  async #find({ client, grant }: Exchange, storage: ShownStorage): Promise<void> {
    // The request may end before.
    const session: DoorSession = client.open(grant);
    try {
      const pin = await session.pin(storage.name, 'storage');
      const { version } = pin.value;
      await pin.release();
      if (this.#facts.get(storage.name)?.version === version) return;
      const before = this.#forgettings;
      const facts = await factsOf(session, storage);
      if (this.#forgettings === before) this.#facts.set(storage.name, { version, facts });
    } finally {
      await session.end();
    }
  }
}

/** The refusal of a body that is no JSON. @throws other errors than that */
function unreadable(error: unknown): ReadMessage {
  const isRefusable = error instanceof ServerError && (error.code === 1001 || error.code === 1004);
  if (!isRefusable) throw error;
  return { refusal: refusal(null, ProtocolErrorCode.ParseError, error.message) };
}

/** Writes integers beyond 2^53 in the metadata of a tool's arguments as decimal texts, which its schema has. */
function withDecimalTexts(message: Record<string, unknown>): Record<string, unknown> {
  const { arguments: given, ...params } = objectOf(message.params);
  const metadata = Object.entries(objectOf(objectOf(given).metadata));
  if (!metadata.some(([, value]) => typeof value === 'bigint')) return message;
  const texts = metadata.map(([name, value]) => [name, typeof value === 'bigint' ? String(value) : value]);
  const changed = { ...objectOf(given), metadata: Object.fromEntries(texts) };
  return { ...message, params: { ...params, arguments: changed } };
}

const objectOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
