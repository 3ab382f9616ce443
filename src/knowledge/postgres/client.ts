import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { checkServerIdentity, type PeerCertificate } from 'node:tls';
import { LorekeepError, onAbort } from '../../../lib/basics.js';
import { type HostPort, hostPort, type PostgresConnection } from './connection.js';
import { EngineError, engineError } from './engine-error.js';

/** An optional package, which no other part needs. */
const driverName: string = 'postgres';
/** The version of the driver that lorekeep is tested with. */
export const driverVersion = '3.4.9';

/** A statement with the values that it binds. */
export interface BoundStatement {
  readonly text: string;
  readonly values: readonly string[];
}

export type Row = Readonly<Record<string, unknown>>;

/** Runs statements on one connection. */
export type Run = (text: string, values?: readonly string[]) => Promise<Row[]>;

/** The part of the driver that is used. */
interface Driver {
  unsafe(text: string, values: readonly string[], options: { prepare: boolean }): Pending;
  begin<T>(work: (driver: Pick<Driver, 'unsafe'>) => Promise<T>): Promise<T>;
  end(options: { timeout: number }): Promise<void>;
}

interface Pending extends Promise<Row[]> {
  cancel(): void;
}

/** Attempts of a statement that only reads. */
const attempts = 3;
const firstPauseMs = 50;

/** A pool of connections to one database. */
export class PostgresClient {
  readonly name: string;
  readonly settings: PostgresConnection;
  readonly #folder: string;
  #driver: Promise<Driver> | undefined;
  #closed = false;

  /** `folder`: where relative paths of the settings start. Connects at the first statement. */
  constructor(name: string, settings: PostgresConnection, folder: string) {
    this.name = name;
    this.settings = settings;
    this.#folder = folder;
  }

  /** Runs a statement that only reads; again if the server went away. @throws EngineError; the signal's reason */
  async read({ text, values }: BoundStatement, signal?: AbortSignal): Promise<Row[]> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#inTime(signal, async (during) =>
          this.#run(await this.#open(), during)(text, values),
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
      async (during) => (await this.#open()).begin((driver) => work(this.#run(driver, during))),
      ms,
    );
  }

  async #inTime<T>(
    signal: AbortSignal | undefined,
    work: (during: AbortSignal) => Promise<T>,
    ms = this.settings.timeout_ms ?? 30_000,
  ): Promise<T> {
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

  /** An aborted statement is cancelled at the server. The caller does not wait for that. */
  #run(driver: Pick<Driver, 'unsafe'>, during: AbortSignal): Run {
    return async (text, values = []) => {
      during.throwIfAborted();
      const pending = driver.unsafe(text, values, { prepare: this.settings.pooler !== true });
      let stop = () => {};
      const aborted = new Promise<never>((_, reject) => {
        stop = onAbort(during, () => {
          pending.cancel();
          reject(during.reason);
        });
      });
      try {
        return await Promise.race([pending, aborted]);
      } finally {
        stop();
        pending.catch(() => {});
      }
    };
  }

  #open(): Promise<Driver> {
    if (this.#closed) throw new LorekeepError('CLOSED', 'PostgresClient: used after close()');
    this.#driver ??= this.#connect().catch((error: unknown) => {
      this.#driver = undefined;
      throw error;
    });
    return this.#driver;
  }

  async #connect(): Promise<Driver> {
    const { hosts, database, user, pool_size, connect_timeout_ms, session, password_file } = this.settings;
    const places = hosts.map((host) => hostPort(host) as HostPort);
    const open = await importDriver(this.name);
    const ssl = await this.#tls(places);
    if (password_file !== undefined) await this.#password();
    return open({
      host: places.map(({ host }) => host),
      port: places.map(({ port }) => port),
      database,
      user,
      pass: () => this.#password(),
      ssl,
      max: pool_size ?? 4,
      idle_timeout: 60,
      connect_timeout: (connect_timeout_ms ?? 5000) / 1000,
      target_session_attrs: session === 'any' ? undefined : session,
      fetch_types: false,
      onnotice: () => {},
      // Compiling a search takes a second, and running it milliseconds. Poolers refuse settings that they do not know.
      connection: { application_name: 'lorekeep', ...(this.settings.pooler !== true && { jit: 'off' }) },
    });
  }

  async #tls(places: readonly HostPort[]): Promise<object | false> {
    const { tls = 'verify', ca_file } = this.settings;
    if (tls === 'off') return false;
    const ca = ca_file === undefined ? undefined : await this.#file(ca_file, 'ca_file');
    // The driver does not say which of the hosts it has reached; each of them is trusted.
    const identify = (_: string, certificate: PeerCertificate) => {
      const errors = places.map(({ host }) => checkServerIdentity(host, certificate));
      return errors.every((error) => error !== undefined) ? errors[0] : undefined;
    };
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
      return await readFile(resolve(join(this.#folder, '.'), path), 'utf8');
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      throw new EngineError(this.name, { reason: `its "${field}" cannot be read: ${code}` }, { cause });
    }
  }

  /** Waits a second for running statements. */
  async close(): Promise<void> {
    this.#closed = true;
    const driver = await this.#driver?.catch(() => undefined);
    await driver?.end({ timeout: 1 });
  }
}

/** @throws UNSUPPORTED with the command that installs it */
async function importDriver(connection: string): Promise<(options: object) => Driver> {
  try {
    const { default: driver } = (await import(driverName)) as {
      default: (options: object) => Driver;
    };
    return driver;
  } catch (cause) {
    const reason = `the connection ${JSON.stringify(connection)} needs the package postgres`;
    const remedy = `npm install postgres@${driverVersion}`;
    throw LorekeepError.about('UNSUPPORTED', { field: 'engine', reason, remedy }, { cause });
  }
}
