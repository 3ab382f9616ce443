import type { RequestFields, RequestType, ServerFrames } from '../protocol/frames.js';
import { ClientAgent } from './agent.js';
import type { Channel, ReplyTo } from './channel.js';
import type { CallOptions } from './client.js';

/** The fields of a request but for the session, which is known. Their names are the protocol's. */
type Fields<Type extends RequestType> = Omit<RequestFields[Type], 'session_id'>;

/** A session: named storages and agents, gone when it or its connection ends. */
export class ClientSession {
  readonly #channel: Channel;
  readonly id: string;

  constructor(channel: Channel, id: string) {
    this.#channel = channel;
    this.id = id;
  }

  /** Makes a storage. Aborting stops waiting, not making: destroy the storage or the session to undo it. */
  createEmbeddedStringStorage(
    fields: Fields<'CreateEmbeddedStringStorageRequest'>,
    { signal }: CallOptions = {},
  ): Promise<ReplyTo<'CreateEmbeddedStringStorageRequest'>> {
    const request = { session_id: this.id, ...fields };
    return this.#channel.request('CreateEmbeddedStringStorageRequest', request, signal);
  }

  async destroyEmbeddedStringStorage(name: string, { signal }: CallOptions = {}): Promise<void> {
    await this.#channel.request('DestroyEmbeddedStringStorageRequest', { session_id: this.id, name }, signal);
  }

  /** Searches a storage without an agent. */
  search(
    fields: Fields<'SearchEmbeddedStringStorageRequest'>,
    { signal }: CallOptions = {},
  ): Promise<ServerFrames['SearchEmbeddedStringStorageResponse']> {
    const request = { session_id: this.id, ...fields };
    return this.#channel.request('SearchEmbeddedStringStorageRequest', request, signal);
  }

  async createAgent(
    fields: Fields<'CreateAgentRequest'>,
    { signal }: CallOptions = {},
  ): Promise<ClientAgent> {
    const request = { session_id: this.id, ...fields };
    const { agent_id } = await this.#channel.request('CreateAgentRequest', request, signal);
    return new ClientAgent(this.#channel, this.id, agent_id);
  }

  /** Ends the session and everything in it. */
  async destroy({ signal }: CallOptions = {}): Promise<void> {
    await this.#channel.request('DestroySessionRequest', { session_id: this.id }, signal);
  }
}
