import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../helpers/folder.js';
import { Namespaces } from './namespaces.js';
import { Program } from './program.js';
import { catalogPath, TestServer } from './test-server.js';

const inFolder = temporaryFolder();
const cli = 'dist/src/cli/main.js';

async function configFile(network_access: string): Promise<string> {
  // Makes the catalog and its model.
  await TestServer.start();
  const path = inFolder('server-config.json');
  const logs_dir = inFolder('logs');
  writeFileSync(path, JSON.stringify({ models_catalog_path: catalogPath, network_access, logs_dir }));
  return path;
}

/** Prints how many bytes the server sent before the connection was closed or 100 had come. */
const visit = `
  const [, host, port, localAddress] = process.argv;
  let bytes = 0;
  const socket = require('node:net').connect({ host, port: Number(port), localAddress });
  socket.on('data', (chunk) => { bytes += chunk.length; socket.end(); });
  socket.on('error', (error) => { if (error.code !== 'ECONNRESET') console.log(error.code); });
  socket.on('close', () => console.log(bytes > 0 ? 'greeted' : 'silence'));
`;

const missing = Namespaces.missing();
if (missing !== undefined) process.stderr.write(`skipped: clients of other machines: ${missing}\n`);

describe.skipIf(missing !== undefined)('with clients on another machine', () => {
  const machines = missing === undefined ? Namespaces.make() : undefined;
  afterAll(() => machines?.remove());
  const { server = '', client = '', clientLink = '' } = machines ?? {};

  const visitFrom = (localAddress: string, host: string, port: string) => {
    const args = ['netns', 'exec', client, process.execPath, '-e', visit, host, port, localAddress];
    return spawnSync('ip', args, { encoding: 'utf8' }).stdout.trim();
  };

  const start = async (access: string) => {
    const config = await configFile(access);
    const program = Program.runIn(
      ['ip', 'netns', 'exec', server],
      cli,
      'serve',
      '--config',
      config,
      '--port',
      '0',
    );
    const [, port] = await program.printed(/"port":(\d+)/);
    return { program, port: port as string };
  };

  it('"local_network" greets clients of the local network and turns away all others before a byte is sent', async () => {
    const { program, port } = await start('local_network');
    const greeted: [string, string][] = [
      ['10.77.0.2', '10.77.0.1'],
      ['203.0.113.2', '203.0.113.1'],
      ['fd77::2', 'fd77::1'],
      [`fe80::77:2%${clientLink}`, `fe80::77:1%${clientLink}`],
    ];
    for (const [from, to] of greeted) expect(visitFrom(from, to, port), from).toBe('greeted');
    const refused: [string, string][] = [
      ['198.51.100.2', '10.77.0.1'],
      ['2001:db8:9::2', 'fd77::1'],
    ];
    for (const [from, to] of refused) {
      expect(visitFrom(from, to, port), from).toBe('silence');
      await program.printed(
        new RegExp(`"client":"(::ffff:)?${from}","msg":"refused: not of the local network"`),
      );
    }
    program.child.kill('SIGTERM');
    expect((await program.ended).code).toBe(0);
    expect(readFileSync(inFolder('logs', 'service.log'), 'utf8')).toContain(
      'refused: not of the local network',
    );
  });

  it('"local" does not listen for them at all', async () => {
    const { port } = await start('local');
    expect(visitFrom('10.77.0.2', '10.77.0.1', port)).toMatch(/^ECONNREFUSED/);
  });
});

it('"local_network" has clients on loopback, of IPv4 too', async () => {
  const server = await TestServer.start({ config: { network_access: 'local_network' } });
  const client = await server.connect();
  await client.ping();
});

it.each(['local', 'local_network'])(
  'a busy port is one clear line and a non-zero exit (%s)',
  async (access) => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, resolve));
    onTestFinished(() => void other.close());
    const { port } = other.address() as { port: number };
    const program = Program.run(cli, 'serve', '--config', await configFile(access), '--port', String(port));
    expect((await program.ended).code).not.toBe(0);
    expect(program.stderr.trim().split('\n')).toEqual([expect.stringContaining(`port ${port} on `)]);
    expect(program.stderr).toContain('is in use');
  },
);
