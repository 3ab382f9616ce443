// `lorekeep serve` in a process of its own, on a free port of loopback, over a folder of knowledge bases. The port is read from its
// log, so log_level must not be above info.
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../harness/cache.mjs';

/**
 * @param flags of Node.js, for profiles
 * @param build the folder of another build of lorekeep
 * @param wrapper a command that runs the server, such as `prlimit --nofile=64`; it must become the server by exec
 */
export async function startServer(
  folder,
  settings = {},
  flags = [],
  { wrapper = [], env = process.env, build = root } = {},
) {
  const config = join(folder, 'server-config.json');
  const values = {
    port: 0,
    storage_root: folder,
    models_catalog_path: join(root, 'data', 'models.json'),
    logs_dir: '',
    ...settings,
  };
  writeFileSync(config, JSON.stringify(values));
  const program = join(build, 'dist', 'src', 'cli', 'main.js');
  const [command, ...args] = [...wrapper, process.execPath, ...flags, program, 'serve', '--config', config];
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((done) => child.once('close', (code, signal) => done(signal ?? code)));
  let printed = '';
  const port = await new Promise((found, failed) => {
    child.once('error', failed);
    child.once('close', (code) => failed(new Error(`the server ended with ${code}:\n${printed}`)));
    child.stdout.on('data', (chunk) => {
      printed = (printed + chunk).slice(-65_536);
      const match = /"port":(\d+)/.exec(printed);
      if (match) found(Number(match[1]));
    });
  });
  const status = () => readFileSync(`/proc/${child.pid}/status`, 'utf8');
  const field = (name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status())?.[1]);
  return {
    port,
    pid: child.pid,
    /** Resolves with the exit status, or with the name of the signal that ended the server. */
    ended,
    running: () => child.exitCode === null && child.signalCode === null,
    /** The last lines of its log. */
    printed: () => printed,
    /** Memory in KiB: resident, without the pages of files that the kernel may drop, and swapped out. */
    memory: () => ({ resident: field('VmRSS'), anonymous: field('RssAnon'), swapped: field('VmSwap') || 0 }),
    /** Processor time so far of all its threads, in ms. */
    processorMs: () => {
      const stat = readFileSync(`/proc/${child.pid}/stat`, 'utf8');
      const [user, system] = stat
        .slice(stat.lastIndexOf(')') + 2)
        .split(' ')
        .slice(11, 13);
      return (Number(user) + Number(system)) * 10; // in hundredths of a second, on every Linux
    },
    handles: () => readdirSync(`/proc/${child.pid}/fd`).length,
    threads: () => field('Threads'),
    async stop() {
      child.kill('SIGTERM');
      return ended;
    },
  };
}

/** Processor time so far of a process and its threads, in ms and parts of them (Linux). */
export function threadsMs(pid) {
  const nanoseconds = readdirSync(`/proc/${pid}/task`).map((thread) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]),
  );
  return nanoseconds.reduce((sum, one) => sum + one, 0) / 1e6;
}

export const wait = (ms) => new Promise((done) => setTimeout(done, ms));

export function percentile(values, share) {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
}
