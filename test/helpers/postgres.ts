import { randomBytes } from 'node:crypto';
import { PGlite } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
import { PGLiteSocketServer } from '@electric-sql/pglite-socket';
import pg from 'pg';
import { afterAll, beforeAll } from 'vitest';
import type { PostgresConnection } from '../../src/knowledge/postgres/connection.js';

export interface TestDatabase {
  /** The settings of a connection to it. */
  connection(more?: Partial<PostgresConnection>): PostgresConnection;
  /** Runs SQL beside the connections. */
  run(sql: string): Promise<Record<string, unknown>[]>;
}

/** A server of PostgreSQL with pgvector, HOST:PORT, which lets the user postgres in: `npm run test:postgres` starts one. */
const server = process.env.LOREKEEP_TEST_POSTGRES;

/** Whether databases are of a real server: one in memory has a single process. */
export const isRealDatabase = server !== undefined;

/** Another server, for knowledge bases that are spread over two. */
const secondServer = process.env.LOREKEEP_TEST_POSTGRES_SECOND;

/** A database of the second server for one test file; undefined: there is none. */
export const secondDatabase = (): TestDatabase | undefined =>
  secondServer === undefined ? undefined : databaseOf(secondServer);

/** A database for one test file: of the server that LOREKEEP_TEST_POSTGRES names, else in memory. */
export const testDatabase = (): TestDatabase =>
  server === undefined ? databaseInMemory() : databaseOf(server);

/** The settings of a connection to a database. */
const settings = (
  address: string,
  database: string,
  more: Partial<PostgresConnection> = {},
): PostgresConnection => ({
  hosts: [address],
  database,
  user: 'postgres',
  tls: 'off',
  serves: ['public'],
  writes: true,
  ...more,
});

/** A new database of a server. */
function databaseOf(address: string): TestDatabase {
  const name = `test_${randomBytes(8).toString('hex')}`;
  const open = async (database: string) => {
    const [host, port] = address.split(':') as [string, string];
    const client = new pg.Client({ host, port: Number(port), database, user: 'postgres' });
    await client.connect();
    return client;
  };
  let own: pg.Client;
  beforeAll(async () => {
    const admin = await open('postgres');
    await admin.query(`create database ${name}`);
    await admin.end();
    own = await open(name);
    await own.query('create extension vector');
  });
  afterAll(() => own?.end());
  return {
    connection: (more) => settings(address, name, more),
    run: async (sql) => (await own.query(sql)).rows,
  };
}

/** A database in memory behind a socket: Postgres with pgvector, compiled to WebAssembly. Starting takes seconds. */
function databaseInMemory(): TestDatabase {
  let database: PGlite;
  let socket: PGLiteSocketServer;
  let port = 0;
  beforeAll(async () => {
    database = await PGlite.create({ extensions: { vector } });
    socket = new PGLiteSocketServer({ db: database, port: 0, host: '127.0.0.1', maxConnections: 16 });
    await socket.start();
    port = Number(socket.getServerConn().split(':').at(-1));
  });
  afterAll(async () => {
    await socket?.stop();
    await database?.close();
  });
  return {
    connection: (more) => settings(`127.0.0.1:${port}`, 'postgres', more),
    run: async (sql) => (await database.query<Record<string, unknown>>(sql)).rows,
  };
}
