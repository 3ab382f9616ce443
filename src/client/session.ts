import type { MetadataOf } from '../../lib/internal.js';
import { ServerError } from '../protocol/errors.js';
import type { RequestType } from '../protocol/frames.js';
import { type AgentSession, ClientAgent } from './agent.js';
import { type Channel, ConnectionLostError, type PullProgress } from './channel.js';
import { ended } from './ended.js';
import type {
  HitMetadata,
  ReplyTo,
  RequestFields,
  SearchReply,
  ServerFrames,
  SessionFields,
} from './frames.js';
import type { CallOptions, Link, Restorable } from './link.js';
import { RememberedStorage } from './remembered-storage.js';
import { ClientSpeech } from './speech.js';

/**
 * Errors about the server rather than the session, after which another attempt may succeed: ServerShuttingDown,
 * TooManyWrongTokens (of others), SessionNotKept, OutOfMemory, ServerMemoryExceeded.
 */
const transient: ReadonlySet<number> = new Set([1008, 2012, 2017, 5003, 6002]);

/** The code of a kept session that has expired, or was destroyed. */
const expired = 2015;

export interface PullOptions extends CallOptions {
  /** Called with the bytes that are there, some times a second. */
  onProgress?: ((progress: PullProgress) => void) | undefined;
}

/** A session: named storages and agents, gone when it or its connection ends. */
export class ClientSession implements Restorable, AgentSession, AsyncDisposable, Disposable {
  readonly #link: Link;
  readonly #fields: RequestFields['CreateSessionRequest'];
  /** The requests that created the storages, by name, for the next connection. */
  readonly #storages = new Map<string, RememberedStorage>();
  readonly #agents = new Set<ClientAgent>();
  /** The agents of a kept session that was resumed, as far as they could be opened. */
  readonly resumed: readonly ClientAgent[];
  /** Its other agents, each with the `error`. createAgent() with their number as `kept` opens them. */
  readonly unopened: NonNullable<ReplyTo<'CreateSessionRequest'>['agents']>;
  #id: string;
  #secret: string | undefined;
  /** Why the session could not be restored on a new connection. */
  #broken: ServerError | undefined;

  /** @internal Use Client.createSession(). */
  constructor(
    link: Link,
    { sessionId, resume, agents = [] }: ReplyTo<'CreateSessionRequest'>,
    fields: RequestFields['CreateSessionRequest'],
  ) {
    this.#link = link;
    this.#id = sessionId;
    this.#secret = resume;
    this.#fields = fields;
    this.resumed = agents.flatMap(({ agentId, kept }) =>
      agentId === undefined ? [] : [this.#add({ agentId, kept }, undefined)],
    );
    this.unopened = agents.filter(({ agentId }) => agentId === undefined);
  }

  /** Of a session that is kept: the secret that resumes it, also after the program has ended. */
  get resume(): string | undefined {
    return this.#secret;
  }

  /** Changes when the connection is replaced. */
  get id(): string {
    return this.#id;
  }

  /** Creates a storage. Aborting ends only the wait: destroy the storage or the session to undo it. */
  async createEmbeddedStringStorage(
    fields: SessionFields<'CreateEmbeddedStringStorageRequest'>,
    { signal }: CallOptions = {},
  ): Promise<ReplyTo<'CreateEmbeddedStringStorageRequest'>> {
    return this.request('CreateEmbeddedStringStorageRequest', fields, signal, () => {
      if (this.#link.restores) this.#storages.set(fields.name, new RememberedStorage(fields));
    });
  }

  async destroyEmbeddedStringStorage(name: string, { signal }: CallOptions = {}): Promise<void> {
    await this.request('DestroyEmbeddedStringStorageRequest', { name }, signal, () => {
      this.#storages.delete(name);
    });
  }

  /** Applies one batch of changes to a storage, whole or not at all. */
  async updateEmbeddedStringStorage(
    fields: SessionFields<'UpdateEmbeddedStringStorageRequest'>,
    { signal }: CallOptions = {},
  ): Promise<ReplyTo<'UpdateEmbeddedStringStorageRequest'>> {
    return this.request('UpdateEmbeddedStringStorageRequest', fields, signal, () => {
      this.#storages.get(fields.name)?.change(fields);
    });
  }

  /** Returns the records with these ids. */
  getRecords(
    fields: SessionFields<'GetEmbeddedStringStorageRequest'>,
    { signal }: CallOptions = {},
  ): Promise<ReplyTo<'GetEmbeddedStringStorageRequest'>> {
    return this.request('GetEmbeddedStringStorageRequest', fields, signal);
  }

  /** Returns a page of the records, all or those that match a filter. */
  listRecords(
    fields: SessionFields<'ListEmbeddedStringStorageRequest'>,
    { signal }: CallOptions = {},
  ): Promise<ReplyTo<'ListEmbeddedStringStorageRequest'>> {
    return this.request('ListEmbeddedStringStorageRequest', fields, signal);
  }

  /** Removes records from every version of a storage, and from the server's memory, before it resolves. */
  async forgetRecords(
    fields: SessionFields<'ForgetEmbeddedStringStorageRequest'>,
    { signal }: CallOptions = {},
  ): Promise<ReplyTo<'ForgetEmbeddedStringStorageRequest'>> {
    let noted: Promise<void> | undefined;
    const forgotten = await this.request('ForgetEmbeddedStringStorageRequest', fields, signal, () => {
      this.#storages.get(fields.name)?.change({ ids: fields.ids });
      if (fields.histories !== true) return;
      noted = this.noteRemovedTurns();
      noted.catch(() => {}); // nobody waits for it after an abort
    });
    await noted;
    return forgotten;
  }

  /** @internal Turns were removed from histories: they do not come back with another connection. */
  async noteRemovedTurns(): Promise<void> {
    for (const agent of this.#agents) await agent.noteRemovedTurns();
  }

  /** Searches a storage without an agent. */
  search<Own extends MetadataOf<Own> = HitMetadata>(
    fields: SessionFields<'SearchEmbeddedStringStorageRequest'>,
    { signal }: CallOptions = {},
  ): Promise<SearchReply<Own>> {
    const reply = this.request('SearchEmbeddedStringStorageRequest', fields, signal);
    return reply as Promise<SearchReply<Own>>;
  }

  async createAgent(
    fields: SessionFields<'CreateAgentRequest'>,
    { signal }: CallOptions = {},
  ): Promise<ClientAgent> {
    const made = await this.request('CreateAgentRequest', fields, signal);
    return this.#add(made, fields);
  }

  /** `fields`: undefined for an agent that was resumed. */
  #add(
    made: Pick<ReplyTo<'CreateAgentRequest'>, 'agentId' | 'memories' | 'kept'>,
    fields: SessionFields<'CreateAgentRequest'> | undefined,
  ): ClientAgent {
    const agent = new ClientAgent(this, made, fields, {
      forget: () => this.#agents.delete(agent),
      restores: this.#link.restores,
    });
    if (this.#link.restores) this.#agents.add(agent);
    return agent;
  }

  /** Makes the session again; one that is kept is resumed. Returns its kept agents, by number. */
  async #remake(channel: Channel): Promise<ReadonlyMap<number, string | undefined>> {
    const { keep, resume, ...fields } = this.#fields;
    const again = async (how: RequestFields['CreateSessionRequest']) => {
      const made = await channel.request('CreateSessionRequest', { ...fields, ...how });
      this.#id = made.sessionId;
      this.#secret = made.resume;
      return new Map(made.agents?.map(({ kept, agentId }) => [kept, agentId]));
    };
    if (this.#secret === undefined) return again({});
    try {
      return await again({ resume: this.#secret });
    } catch (error) {
      if (!(error instanceof ServerError) || error.code !== expired) throw error;
      return again({ keep: true });
    }
  }

  /**
   * Opens a stream of audio: the server finds speech in it and recognises it; with `agentId` the text becomes turns of the
   * agent. Close it, or finish it.
   */
  openSpeech(
    fields: SessionFields<'OpenSpeechRequest'> = {},
    { signal }: CallOptions = {},
  ): Promise<ClientSpeech> {
    return this.use(signal, (channel, sessionId) => ClientSpeech.open(channel, sessionId, fields, signal));
  }

  /**
   * Tells how many characters of a turn's reply the user has heard before interrupting it: the turn is cancelled if it runs, and the
   * agent remembers no more of the reply.
   */
  async replyHeard(turnId: string, characters: number, { signal }: CallOptions = {}): Promise<void> {
    await this.request('ReplyHeardRequest', { turnId, characters }, signal);
  }

  /** Returns the models of the server's catalog, their state, and the memory that they take. */
  listModels({ signal }: CallOptions = {}): Promise<ServerFrames['ListModelsResponse']> {
    return this.request('ListModelsRequest', {}, signal);
  }

  /**
   * Has the server download a model of its catalog, if the operator allows it (`allow_model_pulls`). Aborting cancels the
   * download, unless another client waits for it, and rejects with the signal's reason.
   */
  pullModel(
    fields: SessionFields<'PullModelRequest'>,
    { signal, onProgress }: PullOptions = {},
  ): Promise<ServerFrames['PullModelResponse']> {
    return this.use(signal, (channel, sessionId) =>
      channel.pull({ sessionId, ...fields }, { signal, onProgress }),
    );
  }

  /** Ends the session and everything in it. */
  async destroy({ signal }: CallOptions = {}): Promise<void> {
    await this.request('DestroySessionRequest', {}, signal);
    this.#link.remove(this);
  }

  /** Like destroy(), but a session that has ended already is no error. */
  async [Symbol.asyncDispose](): Promise<void> {
    await ended(this.destroy());
  }

  /** For `using`: ends the session without waiting for it. */
  [Symbol.dispose](): void {
    this.destroy().catch(() => {});
  }

  /** @internal Sends a request of this session. `note` hears the reply, also after an abort. */
  request<Type extends RequestType>(
    type: Type,
    fields: SessionFields<Type>,
    signal: AbortSignal | undefined,
    note?: () => void,
  ): Promise<ReplyTo<Type>> {
    return this.use(signal, (channel, sessionId) =>
      channel.request(type, { sessionId, ...fields } as unknown as RequestFields[Type], signal, note),
    );
  }

  /** @internal Calls with the connection and the session's id on it. */
  use<T>(
    signal: AbortSignal | undefined,
    call: (channel: Channel, sessionId: string) => Promise<T>,
  ): Promise<T> {
    return this.#link.use(signal, (channel) => {
      if (this.#broken !== undefined) throw this.#broken;
      return call(channel, this.#id);
    });
  }

  /** @internal Restores everything on a new connection. */
  async restore(channel: Channel): Promise<void> {
    if (this.#broken !== undefined) return;
    try {
      const kept = await this.#remake(channel);
      const sessionId = this.#id;
      for (const { fields } of this.#storages.values()) {
        await channel.request('CreateEmbeddedStringStorageRequest', { sessionId, ...fields });
      }
      for (const agent of this.#agents) await agent.restore(channel, sessionId, kept);
    } catch (error) {
      if (!(error instanceof ServerError)) throw error;
      if (transient.has(error.code)) throw new ConnectionLostError(error.message, { cause: error });
      this.#broken = new ServerError(
        error.code,
        error.name,
        `the session could not be made again after the connection was lost: ${error.message}`,
        error.details,
      );
    }
  }
}
