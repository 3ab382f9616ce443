import { PGlite } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
import { PGLiteSocketServer } from '@electric-sql/pglite-socket';
import { afterAll, beforeAll } from 'vitest';
import type { PostgresConnection } from '../../src/knowledge/postgres/connection.js';

export interface TestDatabase {
  /** The settings of a connection to it. */
  connection(more?: Partial<PostgresConnection>): PostgresConnection;
  /** Runs SQL beside the connections. */
  run(sql: string): Promise<Record<string, unknown>[]>;
}

/** A database in memory for one test file, behind a socket: Postgres with pgvector, compiled to WebAssembly. Starting takes seconds. */
export function testDatabase(): TestDatabase {
  let database: PGlite;
  let server: PGLiteSocketServer;
  let port = 0;
  beforeAll(async () => {
    database = await PGlite.create({ extensions: { vector } });
    server = new PGLiteSocketServer({ db: database, port: 0, host: '127.0.0.1', maxConnections: 16 });
    await server.start();
    port = Number(server.getServerConn().split(':').at(-1));
  });
  afterAll(async () => {
    await server?.stop();
    await database?.close();
  });
  return {
    connection: (more = {}) => ({
      hosts: [`127.0.0.1:${port}`],
      database: 'postgres',
      user: 'postgres',
      tls: 'off',
      serves: ['public'],
      writes: true,
      ...more,
    }),
    run: async (sql) => (await database.query<Record<string, unknown>>(sql)).rows,
  };
}
