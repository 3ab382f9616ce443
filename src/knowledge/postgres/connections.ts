import { AnyLorekeepError } from '../../../lib/basics.js';
import { PostgresClient } from './client.js';
import { connectionMistake, type PostgresConnection } from './connection.js';
import { type TableNames, tableNames } from './tables.js';

export interface PostgresConnectionsOptions {
  /** Where relative paths of their files start. Default: the current folder. */
  folder?: string | undefined;
  /** Why none of them may be used; undefined: they may. */
  refusal?: string | undefined;
}

/** Somebody who sends a folder could otherwise have texts and passwords sent anywhere. */
export const foundConfigRefusal =
  'connections count only in a server config that --config or LOREKEEP_CONFIG names; that of the current folder was found by itself';

/** The connections that the operator has declared, by name. Each connects when it is first used. */
export class PostgresConnections implements AsyncDisposable {
  readonly #declared: Readonly<Record<string, PostgresConnection>>;
  readonly #folder: string;
  readonly #refusal: string | undefined;
  readonly #clients = new Map<string, PostgresClient>();

  /** @throws INVALID_ARGUMENT for settings that contradict each other */
  constructor(
    declared: Readonly<Record<string, PostgresConnection>>,
    { folder = process.cwd(), refusal }: PostgresConnectionsOptions = {},
  ) {
    for (const [name, settings] of Object.entries(declared)) {
      const mistake = connectionMistake(settings);
      if (mistake === undefined) continue;
      const field = `connections.${name}.${mistake.field}`;
      throw AnyLorekeepError.about('INVALID_ARGUMENT', { field, reason: mistake.reason });
    }
    this.#declared = declared;
    this.#folder = folder;
    this.#refusal = refusal;
  }

  /**
   * Returns the client and the tables of a knowledge base. `file`: its config, for errors.
   * @throws INVALID_ARGUMENT for an unknown connection, and a table that it does not serve
   */
  find(
    { connection, table }: { connection: string; table: string },
    file: string,
  ): { client: PostgresClient; tables: TableNames } {
    const refuse = (field: string, reason: string, remedy?: string) =>
      AnyLorekeepError.about('INVALID_ARGUMENT', { file, field, reason, remedy });
    if (this.#refusal !== undefined) throw refuse('engine.connection', this.#refusal);
    const settings = Object.hasOwn(this.#declared, connection) ? this.#declared[connection] : undefined;
    if (settings === undefined) {
      // A client may have chosen the config: the names of others are not told.
      const reason = `the server's config declares no connection ${JSON.stringify(connection)}`;
      throw refuse(
        'engine.connection',
        reason,
        'declare it in "connections" of the server config that --config names',
      );
    }
    const tables = tableNames(table);
    const { schema, name } = tables;
    if (!settings.serves.some((served) => served === schema || served === `${schema}.${name}`)) {
      const reason = `the connection ${JSON.stringify(connection)} does not serve the table ${JSON.stringify(`${schema}.${name}`)}`;
      throw refuse('engine.table', reason, 'add its schema or the table to "serves" of the connection');
    }
    return { client: this.#client(connection, settings), tables };
  }

  /** Returns the client of a connection, for tables of the server's own. @throws INVALID_ARGUMENT, with `field` */
  writer(connection: string, field: string): PostgresClient {
    const refuse = (reason: string) => AnyLorekeepError.about('INVALID_ARGUMENT', { field, reason });
    if (this.#refusal !== undefined) throw refuse(this.#refusal);
    const settings = Object.hasOwn(this.#declared, connection) ? this.#declared[connection] : undefined;
    if (settings === undefined) throw refuse(`"connections" has no ${JSON.stringify(connection)}`);
    if (settings.session === 'prefer-standby')
      throw refuse('a connection with "session": "prefer-standby" cannot write; use "read-write"');
    return this.#client(connection, settings);
  }

  #client(connection: string, settings: PostgresConnection): PostgresClient {
    const client = this.#clients.get(connection) ?? new PostgresClient(connection, settings, this.#folder);
    this.#clients.set(connection, client);
    return client;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#clients.values()].map((client) => client.close()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
