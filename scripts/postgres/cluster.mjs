import { chmodSync, chownSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../tool/command.mjs';

/** PostgreSQL does not run as root. */
const nobody = 65534;

/** A running database server of its own: a new folder, loopback alone, an empty password, nothing left afterwards. */
export class Cluster {
  #programs;
  #folder;
  #port;

  /** `programs`: the folder of PostgreSQL's. */
  static async start(programs) {
    const cluster = new Cluster();
    cluster.#programs = programs;
    cluster.#folder = mkdtempSync(join(tmpdir(), 'lorekeep-postgres-'));
    chmodSync(cluster.#folder, 0o700);
    if (process.getuid() === 0) chownSync(cluster.#folder, nobody, nobody);
    cluster.#port = await freePort();
    await cluster.#run('initdb', [
      '-D',
      cluster.#data,
      '--username=postgres',
      '-A',
      'trust',
      '-E',
      'UTF8',
      '--no-sync',
    ]);
    await cluster.#certify();
    await cluster.restart('start');
    return cluster;
  }

  /** Makes an authority, and a certificate of "localhost". */
  async #certify() {
    const at = (name) => join(this.#data, name);
    const key = ['-newkey', 'rsa:2048', '-nodes'];
    const own = ['-keyout', at('ca.key'), '-out', at('ca.pem')];
    await this.#as('openssl', ['req', '-x509', ...key, ...own, '-subj', '/CN=authority', '-days', '2']);
    const asked = ['-keyout', at('server.key'), '-out', at('server.csr')];
    const name = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
    await this.#as('openssl', ['req', ...key, ...asked, ...name]);
    const signed = ['-in', at('server.csr'), '-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-CAcreateserial'];
    const out = ['-out', at('server.crt'), '-days', '2', '-copy_extensions', 'copy'];
    await this.#as('openssl', ['x509', '-req', ...signed, ...out]);
  }

  /** The certificate of the authority. TLS is for the host "localhost". */
  get authority() {
    return join(this.#data, 'ca.pem');
  }

  /** Where clients connect. */
  get address() {
    return `127.0.0.1:${this.#port}`;
  }

  get #data() {
    return join(this.#folder, 'data');
  }

  async restart(how = 'restart') {
    const settings = `-p ${this.#port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off -c max_connections=200 -c ssl=on`;
    await this.#run('pg_ctl', [
      '-D',
      this.#data,
      '-w',
      '-m',
      'fast',
      '-l',
      join(this.#folder, 'log'),
      '-o',
      settings,
      how,
    ]);
  }

  /** What the server wrote into its log. */
  get log() {
    return readFileSync(join(this.#folder, 'log'), 'utf8');
  }

  async stop() {
    await this.#run('pg_ctl', ['-D', this.#data, '-w', '-m', 'immediate', 'stop'], true);
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #run(program, args, allowFailure = false) {
    return this.#as(join(this.#programs, program), args, allowFailure);
  }

  #as(program, args, allowFailure = false) {
    const command = [program, ...args];
    const ids = [`--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups'];
    const [first, ...rest] = process.getuid() === 0 ? ['setpriv', ...ids, '--', ...command] : command;
    return run(first, rest, { cwd: this.#folder, quiet: true, allowFailure });
  }
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
