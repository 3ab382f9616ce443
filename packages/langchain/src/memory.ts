import { BaseListChatMessageHistory } from '@langchain/core/chat_history';
import {
  type BaseMessage,
  mapChatMessagesToStoredMessages,
  mapStoredMessagesToChatMessages,
  type StoredMessage,
} from '@langchain/core/messages';
import { LorekeepError, recordsOf, Server, type ServerFields } from './server.js';

export interface LorekeepChatMessageHistoryFields extends ServerFields {
  /** Name of a writable storage with the fields of `historyFields`. */
  storage: string;
  /** Whose conversation it is. */
  sessionId: string;
}

/** The `fields` that the config of a storage of messages needs. */
export const historyFields = [
  { name: 'session', type: 'string', default: '' },
  { name: 'position', type: 'int', default: 0 },
  { name: 'message', type: 'string', default: '', filterable: false },
] as const;

interface MessageRecord {
  id: string;
  metadata?: { position?: number; message?: string };
}

/** A text of fewer characters is not cut any more. */
const shortestCut = 32;

/** The beginning of a text, without half a surrogate pair. */
const beginningOf = (text: string, most: number) =>
  text.length <= most ? text : text.slice(0, most).replace(/[\uD800-\uDBFF]$/, '');

/** Records per request. */
const perPage = 1000;

/** The messages of a conversation as records of a storage: they outlive the process, and searches find them. */
export class LorekeepChatMessageHistory extends BaseListChatMessageHistory {
  lc_namespace = ['lorekeep', 'stores', 'message'];
  readonly #server: Server;
  readonly #records: string;
  readonly #sessionId: string;

  constructor(fields: LorekeepChatMessageHistoryFields) {
    super(fields);
    this.#server = new Server(fields);
    this.#records = recordsOf(fields.storage);
    this.#sessionId = fields.sessionId;
  }

  override async getMessages(): Promise<BaseMessage[]> {
    const found = await this.#all();
    const stored = found.map(({ metadata }) => JSON.parse(metadata?.message ?? '') as StoredMessage);
    return mapStoredMessagesToChatMessages(stored);
  }

  override addMessage(message: BaseMessage): Promise<void> {
    return this.addMessages([message]);
  }

  override async addMessages(messages: BaseMessage[]): Promise<void> {
    const last = (await this.#all()).at(-1)?.metadata?.position ?? -1;
    const stored = mapChatMessagesToStoredMessages(messages);
    const add = stored.map((message, index) => ({
      id: crypto.randomUUID(),
      // A record has a text: a message that only calls tools has none.
      text: messages[index]?.text.trim() || message.type,
      metadata: { session: this.#sessionId, position: last + 1 + index, message: JSON.stringify(message) },
    }));
    if (add.length > 0) await this.#add(add);
  }

  /** Adds records. Of a text that is too long for the embedding model, searches find the beginning alone. */
  async #add(add: readonly { text: string }[]): Promise<void> {
    for (let most = Math.max(...add.map(({ text }) => text.length)); ; most = Math.floor(most / 2)) {
      const cut = add.map((record) => ({ ...record, text: beginningOf(record.text, most) }));
      try {
        return void (await this.#server.post(this.#records, { add: cut }));
      } catch (error) {
        const isTooLong = error instanceof LorekeepError && 'tokens' in error.details;
        if (!isTooLong || most < shortestCut) throw error;
      }
    }
  }

  /** Removes the conversation for good, from the storage's files too. */
  override async clear(): Promise<void> {
    const ids = (await this.#all()).map(({ id }) => id);
    if (ids.length > 0) await this.#server.post(`${this.#records}/forget`, { ids });
  }

  async #all(): Promise<MessageRecord[]> {
    const filter = { '==': [{ knowledge: 'session' }, this.#sessionId] };
    const all: MessageRecord[] = [];
    for (;;) {
      const page = await this.#server.post<{ records: MessageRecord[]; total: number }>(
        `${this.#records}/list`,
        { filter, offset: all.length, limit: perPage },
      );
      all.push(...page.records);
      if (all.length >= page.total || page.records.length === 0) break;
    }
    return all.sort((a, b) => (a.metadata?.position ?? 0) - (b.metadata?.position ?? 0));
  }
}
