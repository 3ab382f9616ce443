import type { PostgresClient, Run } from '../../knowledge/postgres/client.js';
import { quoted, Statement } from '../../knowledge/postgres/statement.js';

/** The tables of kept sessions, as statements have them. */
export interface SessionTables {
  /** One row of facts, with the marker. */
  readonly base: string;
  readonly sessions: string;
  readonly agents: string;
  /** Key of the lock under which the tables are made and sessions are counted. */
  readonly lock: string;
}

/** Tables without it are not ours. A knowledge base has another one, so neither takes the tables of the other. */
const marker = 'lorekeep sessions';
const tablesFormat = 1;

/** Precondition: `given` is "schema.table". */
export function sessionTables(given: string): SessionTables {
  const [schema, name] = given.split('.') as [string, string];
  const of = (part: string) => `${quoted(schema)}.${quoted(`${name}${part}`)}`;
  return { base: of('_base'), sessions: of(''), agents: of('_agents'), lock: `lorekeep sessions ${given}` };
}

/** Has other transactions that count sessions or make the tables wait for this one. */
export async function lockTables({ lock }: SessionTables, run: Run): Promise<void> {
  const statement = new Statement();
  await run(`select pg_advisory_xact_lock(hashtext(${statement.bind(lock, 'text')}))`, statement.values);
}

/** Makes the tables unless they are there. @throws Error for tables of others and of another format; EngineError */
export async function ensureTables(client: PostgresClient, tables: SessionTables): Promise<void> {
  if (await areThere(client, tables)) return;
  await client.transaction(async (run) => {
    await lockTables(tables, run);
    const [found] = await run(`select to_regclass('${tables.base}') is not null as there`);
    if (found?.there !== true) await createTables(tables, run);
  });
}

async function areThere(client: PostgresClient, { base }: SessionTables): Promise<boolean> {
  const ask = (text: string) => client.read({ text, values: [] });
  const [found] = await ask(`select to_regclass('${base}') is not null as there`);
  if (found?.there !== true) return false;
  const [facts] = await ask(`select to_jsonb(b) as facts from ${base} b limit 1`);
  const row = facts?.facts as { marker?: unknown; format?: unknown } | undefined;
  if (row?.marker !== marker)
    throw new Error(`session_store.table: the table ${base} is not one of kept sessions`);
  if (row.format !== tablesFormat)
    throw new Error(
      `session_store.table: ${base} has format ${row.format}; this version reads ${tablesFormat}`,
    );
  return true;
}

async function createTables({ base, sessions, agents }: SessionTables, run: Run): Promise<void> {
  await run(`create table ${sessions} (
    id text primary key, digest text not null, epoch bigint not null, origin text not null, expires timestamptz not null)`);
  await run(`create index on ${sessions} (origin)`);
  await run(`create index on ${sessions} (expires)`);
  await run(`create table ${agents} (
    session text not null references ${sessions} on delete cascade, number int not null,
    graph text, diagnostics boolean not null, turns text not null, primary key (session, number))`);
  await run(
    `create table ${base} (one boolean primary key default true check (one), marker text not null, format int not null)`,
  );
  await run(`insert into ${base} (marker, format) values ('${marker}', ${tablesFormat})`);
}
