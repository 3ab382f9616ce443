/** TLS and several hosts, of a real server alone. */
import { expect, it, onTestFinished } from 'vitest';
import { PostgresConnections } from '../../../src/knowledge/index.js';
import type { PostgresConnection } from '../../../src/knowledge/postgres/connection.js';
import { isRealDatabase, testDatabase } from '../../helpers/postgres.js';

const ca_file = process.env.LOREKEEP_TEST_POSTGRES_CA;
if (ca_file === undefined)
  console.log('left out: TLS to Postgres; npm run test:postgres starts a server that offers it');

const database = testDatabase();
const port = () => database.connection().hosts[0]?.split(':').at(-1);
const cases = it.skipIf(!isRealDatabase || ca_file === undefined);

function clientOf(more: Partial<PostgresConnection>) {
  const settings = database.connection({ hosts: [`localhost:${port()}`], tls: 'verify', ca_file, ...more });
  const connections = new PostgresConnections({ main: settings });
  onTestFinished(() => connections.close());
  return connections.find({ connection: 'main', table: 'kb' }, 'kb.json').client;
}

const whether = { text: 'select ssl from pg_stat_ssl where pid = pg_backend_pid()', values: [] };

cases('a connection is encrypted, and its server known', async () => {
  expect(await clientOf({}).read(whether)).toEqual([{ ssl: true }]);
  for (const more of [{ ca_file: undefined }, { hosts: [`127.0.0.1:${port()}`] }])
    await expect(clientOf(more).read(whether)).rejects.toThrow(
      'the certificate of the server is not trusted',
    );
  expect(await clientOf({ tls: 'off', ca_file: undefined }).read(whether)).toEqual([{ ssl: false }]);
});

cases('a cancelled statement ends at the server, also over TLS', async () => {
  const client = clientOf({});
  const controller = new AbortController();
  const sleeping = client.read({ text: 'select pg_sleep(60)', values: [] }, controller.signal);
  const running = () =>
    database.run(
      "select count(*)::int as n from pg_stat_activity where query = 'select pg_sleep(60)' and state = 'active'",
    );
  await expect.poll(running).toEqual([{ n: 1 }]);
  controller.abort(new Error('enough'));
  await expect(sleeping).rejects.toThrow('enough');
  await expect.poll(running).toEqual([{ n: 0 }]);
  expect(await client.read(whether)).toEqual([{ ssl: true }]);
});

cases('hosts are tried in turn, for what the session may do', async () => {
  const hosts = ['localhost:1', `localhost:${port()}`];
  for (const session of ['any', 'read-write', 'prefer-standby'] as const)
    expect(await clientOf({ hosts, session }).read(whether), session).toEqual([{ ssl: true }]);
  await expect(clientOf({ hosts: ['localhost:1', 'localhost:2'] }).read(whether)).rejects.toThrow(
    'no server answers',
  );
});
