import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { root } from '../tool/project.mjs';
import { Stop } from '../tool/stop.mjs';

/** A home folder of its own, in which commands run as for a user with `lorekeep` on PATH. */
export class SampleFolder {
  constructor() {
    this.path = realpathSync(mkdtempSync(join(tmpdir(), 'lorekeep-samples-')));
    const bin = join(this.path, '.bin');
    mkdirSync(bin);
    symlinkSync(join(root, 'dist', 'src', 'cli', 'lorekeep.cjs'), join(bin, 'lorekeep'));
    this.program = join(bin, 'lorekeep');
    this.env = {
      HOME: this.path,
      PATH: [bin, process.env.PATH].join(delimiter),
      COLUMNS: '100',
      NO_COLOR: '1',
      FORCE_COLOR: undefined,
      XDG_DATA_HOME: undefined,
      XDG_CACHE_HOME: undefined,
      LOREKEEP_CONFIG: '',
      LOREKEEP_PORT: '',
      // Without a language model, whatever this machine has.
      LOREKEEP_MODELS: join(this.path, 'no-models'),
    };
  }

  write(name, content) {
    const file = join(this.path, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
    return file;
  }

  /**
   * Runs `lorekeep ...` as a shell would split it and returns what it prints on stdout, or on another stream, with /home/me as the
   * home folder. stderr has the progress, of which slow machines print more.
   */
  async lorekeep(line, { folder = '.', env = {}, stream = 'stdout' } = {}) {
    return this.node(this.program, words(line), { folder, env, stream });
  }

  async node(file, args, { folder = '.', env = {}, stream = 'stdout' } = {}) {
    const cwd = join(this.path, folder);
    const child = spawn(process.execPath, [file, ...args], {
      cwd,
      env: { ...process.env, ...this.env, ...env },
    });
    const printed = { stdout: '', stderr: '' };
    for (const name of Object.keys(printed)) {
      child[name].setEncoding('utf8').on('data', (text) => {
        printed[name] += text;
      });
    }
    await once(child, 'close');
    return printed[stream].replaceAll(this.path, '/home/me');
  }

  /** Runs a server with this config while `use` runs, with its port. */
  async withServer(config, use) {
    const file = this.write('server-config.json', {
      port: 0,
      logs_dir: '',
      storage_root: this.path,
      ...config,
    });
    const env = { ...process.env, ...this.env };
    const child = spawn(process.execPath, [this.program, 'serve', '--config', file], { env });
    const ended = once(child, 'close');
    try {
      return await use(await portOf(child));
    } finally {
      child.kill('SIGTERM');
      await ended;
    }
  }

  remove() {
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** A command line as a shell splits it: double quotes keep words together. */
function words(line) {
  return [...line.matchAll(/"([^"]*)"|\S+/g)].map(([word, quoted]) => quoted ?? word);
}

function portOf(child) {
  return new Promise((resolve, reject) => {
    let log = '';
    const onData = (chunk) => {
      log += chunk;
      const [, port] = /"port":(\d+)/.exec(log) ?? [];
      if (port !== undefined) resolve(Number(port));
    };
    child.stdout.on('data', onData);
    child.stderr.on('data', onData);
    child.on('close', () => reject(new Stop(`the server of a sample ended:\n${log}`)));
  });
}
