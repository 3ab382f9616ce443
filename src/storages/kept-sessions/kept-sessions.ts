import { createHash } from 'node:crypto';
import type { PostgresClient, Run } from '../../knowledge/postgres/client.js';
import { Statement } from '../../knowledge/postgres/statement.js';
import type { Log } from '../../log/log.js';
import { fail, ServerError, serverError } from '../../protocol/errors.js';
import { isSecretOf, type MemorySecret, makeSecret, parseSecret, secretDigest } from '../memories/secret.js';
import { KeptSession } from './kept-session.js';
import { type InTurn, type KeptAgent, type SessionStore, storeMs } from './session-store.js';
import { ensureTables, lockTables, type SessionTables, sessionTables } from './tables.js';

/** As src/knowledge/postgres/client.ts has it. */
const defaultPoolSize = 4;

/** How often expired sessions are removed, in ms. Each new one removes them, too. */
const cleanMs = 3_600_000;

export interface KeptSessionsOptions {
  readonly client: PostgresClient;
  /** "schema.table". */
  readonly table: string;
  readonly expiryHours: number;
  readonly maxSessions: number;
  readonly maxPerAddress: number;
  readonly maxBytes: number;
  readonly log: Log;
}

/** Sessions whose agents outlive their server, in tables of a database that the operator declared. */
export class KeptSessions implements SessionStore {
  readonly options: KeptSessionsOptions;
  readonly tables: SessionTables;
  /** The database as all clients share it. Half of the connections are for searches. */
  readonly machine: { readonly parallel: number };
  readonly #cleaning: NodeJS.Timeout;
  #ensured: Promise<void> | undefined;

  constructor(options: KeptSessionsOptions) {
    this.options = options;
    this.tables = sessionTables(options.table);
    this.machine = { parallel: Math.ceil((options.client.settings.pool_size ?? defaultPoolSize) / 2) };
    this.#cleaning = setInterval(() => {
      const text = `delete from ${this.tables.sessions} where expires < now()`;
      this.work(() => this.options.client.read({ text, values: [] }, undefined, storeMs)).catch(() => {});
    }, cleanMs).unref();
  }

  /** Keeps a new session. `address`: of its client, which counts. @throws KeptSessionsFull, SessionNotKept */
  create(address: string, inTurn: InTurn): Promise<KeptSession> {
    const secret = makeSecret();
    const { sessions } = this.tables;
    const origin = createHash('sha256').update(address).digest('hex');
    const create = () =>
      this.#transaction(async (run) => {
        await lockTables(this.tables, run);
        await run(`delete from ${sessions} where expires < now()`);
        await this.#requireRoom(origin, run);
        const statement = new Statement();
        const bind = (value: string) => statement.bind(value, 'text');
        const { id } = secret;
        const text = `insert into ${sessions} (id, digest, epoch, origin, expires)
          values (${bind(id)}, ${bind(secretDigest(secret))}, 1, ${bind(origin)}, ${this.expiry(statement)})`;
        await run(text, statement.values);
        return new KeptSession(this, { secret, epoch: 1, inTurn });
      });
    return inTurn(() => this.work(create));
  }

  /**
   * Takes over the session of a secret: whoever had it before can write it no more. `reserve` is called with the bytes of the agents
   * before they are read. @throws KeptSessionNotFound, equal for a wrong secret and an expired session; SessionNotKept; errors of `reserve`
   */
  resume(
    given: string,
    reserve: (bytes: number) => void,
    inTurn: InTurn,
  ): Promise<{ session: KeptSession; agents: readonly KeptAgent[] }> {
    const secret = parseSecret(given);
    if (secret === undefined) refuseSecret();
    const take = () => this.#transaction((run) => this.#take({ secret, reserve, inTurn }, run));
    return inTurn(() => this.work(take));
  }

  close(): void {
    clearInterval(this.#cleaning);
  }

  /** When a session that is written now expires. */
  expiry(statement: Statement): string {
    return `now() + ${statement.bind(this.options.expiryHours, 'float8')} * interval '1 hour'`;
  }

  /** Does work with the tables. @throws ServerError of the work; SessionNotKept for all others, which the log has */
  async work<T>(work: () => Promise<T>): Promise<T> {
    try {
      this.#ensured ??= ensureTables(this.options.client, this.tables);
      await this.#ensured.catch((error: unknown) => {
        this.#ensured = undefined;
        throw error;
      });
      return await work();
    } catch (error) {
      if (error instanceof ServerError) throw error;
      this.options.log.warn({ err: error }, 'session_store: the database could not be used');
      const message = "session: it could not be kept or resumed; the server's log has the reason";
      throw serverError(2017, message, {}, { cause: error });
    }
  }

  #transaction<T>(work: (run: Run) => Promise<T>): Promise<T> {
    return this.options.client.transaction(work, undefined, storeMs);
  }

  async #requireRoom(origin: string, run: Run): Promise<void> {
    const { maxSessions, maxPerAddress } = this.options;
    const statement = new Statement();
    const text = `select count(*) as sessions, count(*) filter (where origin = ${statement.bind(origin, 'text')}) as own from ${this.tables.sessions}`;
    const [counts] = await run(text, statement.values);
    const refuse = (field: string, limit: number, whose: string) =>
      fail(2016, `keep: ${whose} has ${limit} kept sessions (session_store.${field}); destroy one first`, {
        field: `session_store.${field}`,
        limit,
      });
    if (Number(counts?.own) >= maxPerAddress)
      refuse('max_sessions_per_address', maxPerAddress, 'this address');
    if (Number(counts?.sessions) >= maxSessions) refuse('max_sessions', maxSessions, 'the store');
  }

  async #take(
    { secret, reserve, inTurn }: { secret: MemorySecret; reserve: (bytes: number) => void; inTurn: InTurn },
    run: Run,
  ) {
    const { sessions, agents } = this.tables;
    const statement = new Statement();
    const id = statement.bind(secret.id, 'text');
    const [row] = await run(
      `select digest from ${sessions} where id = ${id} and expires > now() for update`,
      statement.values,
    );
    if (!isSecretOf(secret, row?.digest as string | undefined)) refuseSecret();
    const [sizes] = await run(
      `select coalesce(sum(octet_length(turns) + octet_length(coalesce(graph, ''))), 0) as bytes from ${agents} where session = ${id}`,
      statement.values,
    );
    reserve(Number(sizes?.bytes));
    const rows = await run(
      `select number, graph, diagnostics, turns from ${agents} where session = ${id} order by number`,
      statement.values,
    );
    const [next] = await run(
      `update ${sessions} set epoch = epoch + 1, expires = ${this.expiry(statement)} where id = ${id} returning epoch`,
      statement.values,
    );
    const kept = rows.map(
      ({ number, graph, diagnostics, turns }): KeptAgent => ({
        number: Number(number),
        graph: (graph as string | null) ?? undefined,
        diagnostics: diagnostics === true,
        turns: turns === '' ? [] : (turns as string).split('\n'),
      }),
    );
    const session = new KeptSession(this, { secret, epoch: Number(next?.epoch), inTurn }, kept);
    return { session, agents: kept };
  }
}

function refuseSecret(): never {
  fail(2015, 'resume: no kept session has this secret, or it has expired; create a new one', {
    path: 'resume',
  });
}
