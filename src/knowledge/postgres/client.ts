import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { checkServerIdentity, type PeerCertificate } from 'node:tls';
import { LorekeepError } from '../../../lib/basics.js';
import { type HostPort, hostPort, type PostgresConnection } from './connection.js';
import { EngineError, engineError, isOutage } from './engine-error.js';
import { Pool } from './pool.js';
import { type DriverClient, type Row, Session } from './session.js';

export type { Row } from './session.js';

/** An optional package, which no other part needs. */
const driverName: string = 'pg';
/** The version of the driver that lorekeep is tested with. */
export const driverVersion = '8.23.1';

/** A statement with the values that it binds. */
export interface BoundStatement {
  readonly text: string;
  readonly values: readonly string[];
}

/** Runs statements on one connection. */
export type Run = (text: string, values?: readonly string[]) => Promise<Row[]>;

type Driver = new (options: object) => DriverClient;

/** The protocol counts them with 16 bits. */
const mostValues = 65_535;
/** Attempts of a statement that only reads. */
const attempts = 3;
const firstPauseMs = 50;

/** A pool of connections to one database. */
export class PostgresClient {
  readonly name: string;
  readonly settings: PostgresConnection;
  readonly #folder: string;
  readonly #pool: Pool;
  /** Index of the host that the last session reached. */
  #host = 0;
  #closed = false;

  /** `folder`: where relative paths of the settings start. Connects at the first statement. */
  constructor(name: string, settings: PostgresConnection, folder: string) {
    this.name = name;
    this.settings = settings;
    this.#folder = folder;
    this.#pool = new Pool(() => this.#openSession(), settings.pool_size ?? 4);
  }

  /** Runs a statement that may run twice, as one that only reads; again if the server went away. @throws EngineError; the signal's reason */
  async read({ text, values }: BoundStatement, signal?: AbortSignal, ms?: number): Promise<Row[]> {
    if (values.length > mostValues) {
      const reason = `it takes ${values.length} values in Postgres; at most ${mostValues} can be sent`;
      throw LorekeepError.about('INVALID_ARGUMENT', { field: 'filter', reason });
    }
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#inTime(
          signal,
          (during) => this.#pool.use((session) => session.run(text, values, during), during),
          ms,
        );
      } catch (error) {
        if (!(error instanceof EngineError) || !error.isOutage || attempt === attempts) throw error;
        await new Promise((done) => setTimeout(done, firstPauseMs * attempt));
      }
    }
  }

  /** Runs statements as one transaction. `ms`: its longest time; default: that of a statement. @throws as read(); errors of `work` */
  transaction<T>(work: (run: Run) => Promise<T>, signal?: AbortSignal, ms?: number): Promise<T> {
    return this.#inTime(
      signal,
      (during) =>
        this.#pool.use((session) => {
          const run: Run = (text, values = []) => session.run(text, values, during);
          return session.transaction(() => work(run), during);
        }, during),
      ms,
    );
  }

  async #inTime<T>(
    signal: AbortSignal | undefined,
    work: (during: AbortSignal) => Promise<T>,
    ms = this.settings.timeout_ms ?? 30_000,
  ): Promise<T> {
    if (this.#closed) throw new LorekeepError('CLOSED', 'PostgresClient: used after close()');
    signal?.throwIfAborted();
    const late = AbortSignal.timeout(ms);
    const during = signal === undefined ? late : AbortSignal.any([signal, late]);
    try {
      return await work(during);
    } catch (cause) {
      signal?.throwIfAborted();
      if (late.aborted)
        throw new EngineError(
          this.name,
          { reason: `no answer within ${ms} ms`, remedy: 'raise "timeout_ms" of the connection' },
          { cause },
        );
      throw engineError(this.name, cause);
    }
  }

  /** Tries the hosts in turn, beginning with the one that was reached last. */
  async #openSession(): Promise<Session> {
    const driver = await importDriver(this.name);
    const { hosts, session } = this.settings;
    let last: unknown;
    // A standby is preferred in the first round, and not needed in the second.
    for (const wanted of session === 'prefer-standby' ? ['standby', 'any'] : [session ?? 'any']) {
      for (let n = 0; n < hosts.length; n++) {
        const index = (this.#host + n) % hosts.length;
        try {
          const found = await this.#connect(driver, hostPort(hosts[index] as string) as HostPort, wanted);
          if (found === undefined) continue;
          this.#host = index;
          return found;
        } catch (error) {
          if (!isOutage(error)) throw error;
          last = error;
        }
      }
    }
    throw last ?? new EngineError(this.name, { reason: 'none of its hosts can be written', isOutage: true });
  }

  /** Returns undefined if the server is not of the wanted kind. */
  async #connect(Driver: Driver, place: HostPort, wanted: string): Promise<Session | undefined> {
    const { database, user, connect_timeout_ms, pooler, password_file } = this.settings;
    const tls = await this.#tls(place);
    if (password_file !== undefined) await this.#password();
    const client = new Driver({
      ...place,
      database,
      user,
      password: () => this.#password(),
      ssl: tls ?? false,
      connectionTimeoutMillis: connect_timeout_ms ?? 5000,
      keepAlive: true,
      application_name: 'lorekeep',
      // Compiling a search takes a second, and running it milliseconds. A plan for any values would leave the indexes of filters and
      // foreign servers. Poolers refuse settings that they do not know, and prepare nothing.
      ...(pooler !== true && { options: '-c jit=off -c plan_cache_mode=force_custom_plan' }),
    });
    // What breaks while it connects is told by connect(); without a listener it would end the process as well.
    client.on('error', () => {});
    await client.connect().catch((error: unknown) => {
      client.connection.stream.destroy();
      throw withCode(error);
    });
    const session = new Session(client, { place, tls, prepares: pooler !== true });
    if (wanted === 'any') return session;
    const text = "select pg_is_in_recovery() or current_setting('transaction_read_only') = 'on' as standby";
    let isWanted = false;
    try {
      const [state] = await session.run(text, [], AbortSignal.timeout(this.settings.timeout_ms ?? 30_000));
      isWanted = (state?.standby === true) === (wanted === 'standby');
    } finally {
      if (!isWanted) session.cut();
    }
    return isWanted ? session : undefined;
  }

  async #tls({ host }: HostPort): Promise<object | undefined> {
    const { tls = 'verify', ca_file } = this.settings;
    if (tls === 'off') return undefined;
    const ca = ca_file === undefined ? undefined : await this.#file(ca_file, 'ca_file');
    const identify = (_: string, certificate: PeerCertificate) => checkServerIdentity(host, certificate);
    return { rejectUnauthorized: true, checkServerIdentity: identify, ...(ca !== undefined && { ca }) };
  }

  /** Reads the password for each new connection: it may have been changed. */
  async #password(): Promise<string> {
    const { password_env, password_file } = this.settings;
    if (password_env !== undefined) return process.env[password_env] ?? '';
    if (password_file === undefined) return '';
    return (await this.#file(password_file, 'password_file')).replace(/\r?\n$/, '');
  }

  async #file(path: string, field: string): Promise<string> {
    try {
      return await readFile(resolve(this.#folder, path), 'utf8');
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      throw new EngineError(this.name, { reason: `its "${field}" cannot be read: ${code}` }, { cause });
    }
  }

  /** Waits for what runs. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#pool.close();
  }
}

/** The driver's errors of connecting, some of which have no code. */
function withCode(error: unknown): unknown {
  const { code, message } = error as { code?: unknown; message: string };
  if (typeof code === 'string') return error;
  const own = /password/.test(message)
    ? '28P01'
    : /timeout/.test(message)
      ? 'CONNECT_TIMEOUT'
      : /SSL/.test(message)
        ? 'NO_TLS'
        : 'CONNECTION_CLOSED';
  return Object.assign(new Error(message, { cause: error }), { code: own });
}

/** @throws UNSUPPORTED with the command that installs it */
async function importDriver(connection: string): Promise<Driver> {
  try {
    const { default: driver } = (await import(driverName)) as { default: { Client: Driver } };
    return driver.Client;
  } catch (cause) {
    const reason = `the connection ${JSON.stringify(connection)} needs the package ${driverName}`;
    const remedy = `npm install ${driverName}@${driverVersion}`;
    throw LorekeepError.about('UNSUPPORTED', { field: 'engine', reason, remedy }, { cause });
  }
}
