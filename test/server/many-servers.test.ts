import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  type Client,
  type ClientAgent,
  ConnectionLostError,
  connect,
  type ServerError,
} from '../../src/client/index.js';
import { FakeModelServer } from '../helpers/fake-model-server.js';
import { temporaryFolder } from '../helpers/folder.js';
import { isRealDatabase, testDatabase } from '../helpers/postgres.js';
import { Program } from './program.js';
import { catalogOf } from './remote-setting.js';

/**
 * Three servers, each a process of its own, behind HAProxy with deploy/haproxy.cfg, on one PostgreSQL and one server of models.
 * `npm run test:postgres many-servers` runs it, where HAProxy is installed. LOREKEEP_TEST_SESSIONS: number of clients.
 */
const inFolder = temporaryFolder();
const database = testDatabase();
const clients = Number(process.env.LOREKEEP_TEST_SESSIONS ?? 120);
const missing = !isRealDatabase
  ? 'npm run test:postgres runs them'
  : spawnSync('haproxy', ['-v']).error && 'HAProxy is not installed';
if (missing) process.stderr.write(`skipped: servers behind HAProxy: ${missing}\n`);

const graph = { nodes: [{ id: 'g', type: 'generate', params: { model: 'talk' } }] } as never;

/** Ports that are free now. */
async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      return server;
    }),
  );
  const ports = servers.map((server) => (server.address() as { port: number }).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

class Server {
  readonly port: number;
  readonly metrics: number;
  readonly #config: string;
  program: Program;

  constructor(config: string, port: number, metrics: number) {
    this.port = port;
    this.metrics = metrics;
    this.#config = config;
    this.program = this.#run();
  }

  #run(): Program {
    // Nine processes on a few cores: steps take longer, which the watchdog of the tests would make a failure.
    const plain = ['env', '-u', 'LOREKEEP_WATCHDOG'];
    return Program.runIn(plain, 'dist/src/cli/main.js', 'serve', '--config', this.#config);
  }

  async restart(): Promise<void> {
    this.program = this.#run();
    await this.isUp();
  }

  isUp = () => this.program.printed(/"msg":"listening"/);

  async sessions(): Promise<number> {
    const text = await (await fetch(`http://127.0.0.1:${this.metrics}/metrics`)).text();
    return Number(/^lorekeep_sessions (\d+)/m.exec(text)?.[1]);
  }
}

/** A client with a kept session and an agent. It notes the turns that have ended, and what went wrong. */
class Talker {
  readonly name: string;
  readonly said: string[] = [];
  readonly ms: number[] = [];
  readonly errors: unknown[] = [];
  reconnected = 0;
  client!: Client;
  agent!: ClientAgent;
  resume!: string;

  constructor(name: string) {
    this.name = name;
  }

  async begin(port: number): Promise<void> {
    this.client = await connect({
      port,
      pingMs: 500,
      reconnect: { attempts: 1000, minDelayMs: 20, maxDelayMs: 200 },
      onState: (state) => {
        if (state === 'reconnecting') this.reconnected++;
      },
    });
    const session = await this.client.createSession({ keep: true });
    this.agent = await session.createAgent({ graph });
    this.resume = session.resume as string;
  }

  /** Says something. A turn whose connection is lost may have been served, or not. */
  async say(): Promise<void> {
    const text = `${this.name} says ${this.said.length + this.errors.length}`;
    const started = performance.now();
    try {
      const { status, error, notKept } = await this.agent.turn(text);
      if (status !== 'completed' || notKept !== undefined)
        throw Object.assign(new Error(status), error, notKept);
      this.said.push(text);
      this.ms.push(performance.now() - started);
    } catch (error) {
      this.errors.push(error);
    }
  }

  async history(agent = this.agent): Promise<string[]> {
    return (await agent.export()).turns.map(({ text }) => text);
  }
}

const percentile = (values: number[], part: number) =>
  Math.round(values.toSorted((a, b) => a - b)[Math.floor(values.length * part)] ?? Number.NaN);

/** The codes of errors, and how often each came. */
function counted(errors: readonly unknown[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const error of errors) {
    const name = error instanceof ConnectionLostError ? 'lost' : String((error as ServerError).code ?? error);
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

async function cluster() {
  const models = await FakeModelServer.start();
  const ports = await freePorts(8);
  const catalog = await catalogOf({ url: models.url, api: 'openai' }, inFolder());
  const servers = [0, 1, 2].map((n) => {
    const [port, metrics] = [ports[2 * n] as number, ports[2 * n + 1] as number];
    const config = {
      port,
      models_catalog_path: catalog,
      logs_dir: '',
      log_level: 'info',
      proxy_protocol: ['127.0.0.2'],
      metrics: { enabled: true, port: metrics },
      limits: { drain_timeout_ms: 5000 },
      connections: { main: database.connection({ writes: false }) },
      session_store: { connection: 'main', table: 'public.sessions' },
      max_memory_mb: 256,
    };
    const file = inFolder(`server-${n}.json`);
    writeFileSync(file, JSON.stringify(config));
    return new Server(file, port, metrics);
  });
  await Promise.all(servers.map((server) => server.isUp()));
  const [port, short] = ports.slice(6) as [number, number];
  return { servers, models, port, short };
}

/** Runs deploy/haproxy.cfg with the addresses of the test. `idle`: its time for quiet connections. */
async function balance(servers: readonly Server[], port: number, idle: string): Promise<void> {
  let text = readFileSync(join(import.meta.dirname, '../../deploy/haproxy.cfg'), 'utf8');
  const set = (from: string | RegExp, to: string) => {
    expect(text).toMatch(from);
    text = text.replace(from, to);
  };
  set('bind :9100', `bind 127.0.0.1:${port}`);
  set('check port 9102', 'source 127.0.0.2 check');
  set('timeout client 15m', `timeout client ${idle}`);
  set('timeout server 15m', `timeout server ${idle}`);
  for (const [n, server] of servers.entries())
    set(`lorekeep-${n + 1}:9100`, `127.0.0.1:${server.port} port ${server.metrics}`);
  const file = inFolder(`haproxy-${port}.cfg`);
  writeFileSync(file, text);
  const program = Program.command(['haproxy', '-db', '-f', file]);
  await vi.waitFor(async () => {
    expect(program.child.exitCode, program.stderr).toBeNull();
    await (await connect({ port })).close();
  });
}

describe.skipIf(missing)('behind HAProxy', () => {
  it('a rolling restart and a killed server lose no turn that has ended, and clients go on by themselves', {
    timeout: 600_000,
  }, async () => {
    const { servers, port } = await cluster();
    await balance(servers, port, '15m');
    const talkers = Array.from({ length: clients }, (_, n) => new Talker(`client ${n}`));
    onTestFinished(async () => void (await Promise.all(talkers.map(({ client }) => client?.close()))));
    for (const talker of talkers) await talker.begin(port);
    const all = (work: (talker: Talker) => Promise<void>) => Promise.all(talkers.map(work));
    await all((talker) => talker.say());
    const spread = await Promise.all(servers.map((server) => server.sessions()));
    expect(Math.min(...spread)).toBeGreaterThan(clients / 6);
    const report: Record<string, unknown> = { clients, spread };
    const take = () => {
      const ms = talkers.flatMap((talker) => talker.ms.splice(0));
      const errors = counted(talkers.flatMap((talker) => talker.errors));
      const turns = ms.length;
      return {
        turns,
        p50: percentile(ms, 0.5),
        p95: percentile(ms, 0.95),
        max: Math.round(Math.max(...ms)),
        errors,
      };
    };
    await all((talker) => talker.say());
    report.quiet = take();
    expect(talkers.flatMap((talker) => talker.errors)).toEqual([]);

    // Each client talks on while something happens to the servers.
    const during = async (work: () => Promise<unknown>) => {
      let goesOn = true;
      const talking = all(async (talker) => {
        while (goesOn) await talker.say();
      });
      const started = performance.now();
      try {
        await work();
        return Math.round(performance.now() - started);
      } finally {
        goesOn = false;
        await talking;
      }
    };
    const restarted = await during(async () => {
      for (const server of servers) {
        server.program.child.kill('SIGTERM');
        expect((await server.program.ended).code, server.program.stdout.slice(-2000)).toBe(0);
        await server.restart();
        // The balancer has seen it, and sends clients to it.
        await vi.waitFor(async () => {
          await Promise.all(Array.from({ length: 9 }, async () => (await connect({ port })).close()));
          const { stdout } = server.program;
          expect(stdout).toContain('"msg":"listening"');
        });
      }
    });
    report.restart = {
      ms: restarted,
      ...take(),
      reconnected: talkers.filter((t) => t.reconnected > 0).length,
    };
    const allowed = ['lost', '1008', '2002'];
    for (const code of Object.keys(counted(talkers.flatMap((t) => t.errors))))
      expect(allowed).toContain(code);

    const before = talkers.map(({ reconnected, errors }) => ({ reconnected, errors: errors.length }));
    const [victim] = servers as [Server];
    const killed = await during(async () => {
      victim.program.child.kill('SIGKILL');
      await victim.program.ended;
      await vi.waitFor(() => expect(talkers.every((t) => t.client.state === 'connected')).toBe(true));
    });
    const hit = talkers.filter((t, n) => t.reconnected > (before[n]?.reconnected ?? 0));
    const others = talkers.filter((t, n) => t.reconnected === before[n]?.reconnected);
    report.kill = { ms: killed, ...take(), hit: hit.length, others: others.length };
    for (const [n, talker] of talkers.entries()) {
      const errors = talker.errors.slice(before[n]?.errors);
      if (others.includes(talker)) expect(errors, talker.name).toEqual([]);
      else
        expect(
          errors.every((error) => error instanceof ConnectionLostError),
          talker.name,
        ).toBe(true);
    }

    // What has ended is in the history of each, once and in order; whoever has the secret has it, too.
    const missingTurns = (said: readonly string[], history: readonly string[]) => {
      const wanted = said.slice(-50);
      const found = history.filter((text) => wanted.includes(text));
      return (
        found.slice(-wanted.length).join('\n') === wanted.slice(-found.length).join('\n') && found.length > 0
      );
    };
    for (const talker of talkers) {
      const history = await talker.history();
      expect(history.every((text) => text.startsWith(`${talker.name} says`))).toBe(true);
      expect(missingTurns(talker.said, history), `${talker.name}: ${history.join('; ')}`).toBe(true);
    }
    const [talker] = talkers as [Talker];
    const anew = await connect({ port });
    const { resumed } = await anew.createSession({ resume: talker.resume });
    expect(await talker.history(resumed[0])).toEqual(
      await talker.history().catch(() => talker.history(resumed[0])),
    );
    await anew.close();
    process.stdout.write(`many servers: ${JSON.stringify(report)}\n`);
  });

  it('a quiet client that pings lives through the idle time of the balancer, and another one does not', async () => {
    const { servers, short } = await cluster();
    await balance(servers, short, '2s');
    const states: string[] = [];
    const pinging = await connect({
      port: short,
      pingMs: 300,
      reconnect: true,
      onState: (s) => states.push(s),
    });
    onTestFinished(() => pinging.close());
    const session = await pinging.createSession();
    for (let round = 0; round < 2; round++) {
      const silent = await connect({ port: short });
      await silent.createSession();
      await silent.closed;
    }
    expect(states).toEqual([]);
    await session.destroy();
  });
});
