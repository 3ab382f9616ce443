import { spawn } from 'node:child_process';
import { createWriteStream, existsSync, mkdirSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { Stop } from './stop.mjs';

/** The full path of a program on PATH, or undefined. */
export function findProgram(name) {
  const names = process.platform === 'win32' ? [`${name}.exe`, `${name}.cmd`] : [name];
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    for (const candidate of names) {
      if (folder && existsSync(join(folder, candidate))) return join(folder, candidate);
    }
  }
  return undefined;
}

/** npm as `node npm-cli.js` when npm started us, so that the same npm serves; else the one on PATH. */
export function npmCommand() {
  const cli = process.env.npm_execpath;
  return cli?.endsWith('.js') ? [process.execPath, cli] : ['npm'];
}

/**
 * Runs a command. Output goes to `log` (a file, with the command in its first line) or, without one, to our own.
 * `onLine` sees each line of standard output. Resolves with {code, output}: output is the standard output and error
 * together, at most the last 256 KiB. `allowFailure` unset: a failure throws a Stop with the last lines and the log's path.
 */
export function run(command, args, options = {}) {
  const { cwd, env, log, onLine, quiet = log !== undefined, allowFailure = false } = options;
  return new Promise((resolve, reject) => {
    const file = log ? openLog(log, [command, ...args].join(' ')) : undefined;
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    let partial = '';
    const take = (chunk) => {
      output = (output + chunk).slice(-262144);
      file?.write(chunk);
      if (!quiet) process.stdout.write(chunk);
    };
    const takeLines = (chunk) => {
      take(chunk);
      const lines = (partial + chunk).split('\n');
      partial = lines.pop() ?? '';
      for (const line of lines) onLine(line);
    };
    child.stdout.setEncoding('utf8').on('data', onLine ? takeLines : take);
    child.stderr.setEncoding('utf8').on('data', take);
    child.on('error', (error) => reject(new Stop(`${command} cannot be started: ${error.message}`)));
    child.on('close', (code, signal) => {
      if (partial && onLine) onLine(partial);
      file?.end();
      if (code === 0 || allowFailure) resolve({ code: code ?? 128, output, signal });
      else reject(new Stop(failure(command, args, code ?? signal, output, log, quiet)));
    });
  });
}

function openLog(path, title) {
  mkdirSync(dirname(path), { recursive: true });
  const file = createWriteStream(path);
  file.write(`${title}\n`);
  return file;
}

/** The lines that say most: from CMake's first error, else from the compiler's, else the last ones. */
function failure(command, args, status, output, log, quiet) {
  const what = `${command} ${args.slice(0, 2).join(' ')} ended with ${status}`;
  const lines = output.trimEnd().split('\n');
  const first = lines.findIndex((line) => /^CMake Error|^FAILED: |: (fatal )?error: /.test(line));
  const shown = first >= 0 ? lines.slice(first, first + 30) : lines.slice(-30);
  return `${what}${log ? ` (whole output: ${log})` : ''}${quiet ? `\n${shown.join('\n')}` : ''}`;
}
