import { mapInSlices } from '../../base/waiting/next-slice.js';
import { Statement } from '../../knowledge/postgres/statement.js';
import { type ServerError, serverError } from '../../protocol/errors.js';
import type { HistoryTurn } from '../../protocol/history.js';
import { type MemorySecret, secretText } from '../memories/secret.js';
import { type InTurn, type KeptAgent, type SessionStore, storeMs } from './session-store.js';

/** What is kept of an agent. */
export interface AgentToKeep {
  readonly number: number;
  /** Undefined: as it was kept before. */
  readonly graph?: string | undefined;
  readonly diagnostics: boolean;
  readonly turns: readonly HistoryTurn[];
}

/** A kept session, as its server holds it until another one resumes it. */
export class KeptSession {
  readonly #store: SessionStore;
  readonly #inTurn: InTurn;
  readonly #secret: MemorySecret;
  /** Counts the servers that have held it. The tables take writes of the last one alone. */
  readonly #epoch: number;
  /** Bytes of the agents. */
  readonly #bytes = new Map<number, { graph: number; turns: number }>();
  #lastNumber = 0;
  #taken: ServerError | undefined;

  constructor(
    store: SessionStore,
    { secret, epoch, inTurn }: { secret: MemorySecret; epoch: number; inTurn: InTurn },
    agents: readonly KeptAgent[] = [],
  ) {
    this.#store = store;
    this.#secret = secret;
    this.#epoch = epoch;
    this.#inTurn = inTurn;
    for (const { number, graph = '', turns } of agents) {
      this.#lastNumber = Math.max(this.#lastNumber, number);
      const bytes = turns.reduce((sum, turn) => sum + Buffer.byteLength(turn) + 1, 0);
      this.#bytes.set(number, { graph: Buffer.byteLength(graph), turns: bytes });
    }
  }

  get secret(): string {
    return secretText(this.#secret);
  }

  nextNumber(): number {
    return ++this.#lastNumber;
  }

  /**
   * Keeps an agent, in place of what was kept of it. @throws SessionTaken once another server has resumed the session, KeptSessionsFull,
   * KeptSessionNotFound, SessionNotKept
   */
  async keep({ number, graph = '', diagnostics, turns }: AgentToKeep): Promise<void> {
    if (this.#taken !== undefined) throw this.#taken;
    const texts = await mapInSlices(turns, (turn) => JSON.stringify(turn), 1);
    const text = texts.join('\n');
    const before = this.#bytes.get(number);
    const bytes = { graph: Buffer.byteLength(graph) || (before?.graph ?? 0), turns: Buffer.byteLength(text) };
    this.#requireRoom(number, bytes.graph + bytes.turns);
    const { sessions, agents } = this.#store.tables;
    const statement = new Statement();
    const mine = this.#mine(statement);
    const values = [
      statement.bind(number, 'int'),
      `nullif(${statement.bind(graph, 'text')}, '')`,
      statement.bind(diagnostics ? 1 : 0, 'int'),
      statement.bind(text, 'text'),
    ];
    const sql = `with s as (update ${sessions} set expires = ${this.#store.expiry(statement)} where ${mine} returning id)
      insert into ${agents} as a (session, number, graph, diagnostics, turns)
      select id, ${values[0]}, ${values[1]}, ${values[2]} = 1, ${values[3]} from s
      on conflict (session, number) do update set graph = coalesce(excluded.graph, a.graph),
        diagnostics = excluded.diagnostics, turns = excluded.turns returning number`;
    await this.#write(sql, statement.values);
    this.#bytes.set(number, bytes);
  }

  /** Keeps nothing of an agent any more. @throws as keep() */
  async drop(number: number): Promise<void> {
    const { sessions, agents } = this.#store.tables;
    const statement = new Statement();
    const sql = `with s as (update ${sessions} set expires = expires where ${this.#mine(statement)} returning id),
      d as (delete from ${agents} a using s where a.session = s.id and a.number = ${statement.bind(number, 'int')})
      select id from s`;
    await this.#write(sql, statement.values);
    this.#bytes.delete(number);
  }

  /** Removes the session and all that was kept of it. @throws as keep() */
  async remove(): Promise<void> {
    const statement = new Statement();
    const sql = `delete from ${this.#store.tables.sessions} where ${this.#mine(statement)} returning id`;
    await this.#write(sql, statement.values);
  }

  #mine(statement: Statement): string {
    const id = statement.bind(this.#secret.id, 'text');
    return `id = ${id} and epoch = ${statement.bind(this.#epoch, 'bigint')}`;
  }

  #requireRoom(number: number, bytes: number): void {
    const limit = this.#store.options.maxBytes;
    let all = bytes;
    for (const [other, { graph, turns }] of this.#bytes) if (other !== number) all += graph + turns;
    if (all <= limit) return;
    const field = 'session_store.max_session_mb';
    const message = `session: its agents would take ${all} bytes; ${limit} can be kept (${field}): shorten the history, or destroy an agent`;
    throw serverError(2016, message, { field, limit });
  }

  /** Runs a statement that may run twice, and that returns a row if the session is still held here. */
  async #write(text: string, values: readonly string[]): Promise<void> {
    if (this.#taken !== undefined) throw this.#taken;
    await this.#inTurn(() => this.#store.work(() => this.#writeNow(text, values)));
  }

  async #writeNow(text: string, values: readonly string[]): Promise<void> {
    const { client } = this.#store.options;
    const rows = await client.read({ text, values }, undefined, storeMs);
    if (rows.length > 0) return;
    const statement = new Statement();
    const there = `select 1 from ${this.#store.tables.sessions} where id = ${statement.bind(this.#secret.id, 'text')}`;
    const found = await client.read({ text: there, values: statement.values }, undefined, storeMs);
    if (found.length === 0)
      throw serverError(2015, 'session: it has expired, and is no longer kept', { path: 'session_id' });
    this.#taken = serverError(2014, 'the session was resumed by another connection; go on there', {});
    throw this.#taken;
  }
}
