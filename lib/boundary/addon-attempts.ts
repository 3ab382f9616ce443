/** Tries every file of the addon, for a report about an addon that does not load. Does not load it into this process. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { addonCandidates, packageFolder, platform } from './addon-files.js';
import { isMusl } from './c-library.js';
import { LorekeepError } from './errors.js';
import {
  checkExports,
  explainLinkerError,
  isCheckout,
  type LoadProblem,
  linkerMessage,
} from './load-failure.js';
import { compileCommand } from './source-package.js';
import { truncatedLibrary } from './whole-library.js';

/** One .node file, and why it does not load. */
export interface AddonAttempt {
  file: string;
  /** Undefined if it loads. */
  problem: LoadProblem | undefined;
}

export interface AddonAttempts {
  /** The package's folder. */
  root: string;
  /** Platform and architecture of this Node.js. */
  platform: string;
  isCheckout: boolean;
  /** Whether this Node.js uses musl. */
  isMusl: boolean;
  /** The command that compiles the addon for an installed package. */
  compileCommand: string;
  /** Platforms that the package has prebuilds for. */
  prebuilds: string[];
  /** The files for this platform, in the order of the loader. */
  attempts: AddonAttempt[];
}

/** Milliseconds that a child process has to load the addon. */
const limitMs = 30_000;
const marker = 'lorekeep-addon:';
const script = `
const tell = (found) => require('node:fs').writeSync(1, '\\n${marker}' + JSON.stringify(found) + '\\n');
try {
  tell({ names: Object.keys(require(process.argv[1])) });
} catch (error) {
  tell({ error: String(error.message) });
}
process.exit(0);
`;

/** Loads each file of the addon in a child process: a defective library cannot end this one. */
export function attemptAddon(): AddonAttempts {
  const root = packageFolder();
  return {
    root,
    platform,
    isCheckout: isCheckout(root),
    isMusl,
    compileCommand: compileCommand(root),
    prebuilds: foldersOf(join(root, 'prebuilds')),
    attempts: addonCandidates(root).map(attempt),
  };
}

/** Returns why the file that the loader prefers does not load, without loading it; undefined if it may. */
export function whyNotLoadable(): string | undefined {
  const [first] = addonCandidates(packageFolder());
  if (first === undefined) return undefined; // The loader says so.
  const { problem } = attempt(first);
  return problem && `${first} does not load: ${problem.reason}`;
}

function foldersOf(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

function attempt(file: string): AddonAttempt {
  const truncated = truncatedLibrary(dirname(file));
  const problem = truncated === undefined ? loadInChild(file) : { reason: truncated, isDamage: true };
  return { file, problem };
}

/** Returns why the addon does not load; undefined if it does and is of this build. */
function loadInChild(file: string): LoadProblem | undefined {
  // A program that embeds Node, such as Electron, runs as Node. Options such as --inspect are not for the child.
  const env = { ...process.env, ELECTRON_RUN_AS_NODE: '1', NODE_OPTIONS: '' };
  const { error, signal, status, stdout } = spawnSync(process.execPath, ['-e', script, file], {
    env,
    encoding: 'utf8',
    timeout: limitMs,
    killSignal: 'SIGKILL',
    windowsHide: true,
  });
  if (error !== undefined) return { reason: `it could not be tried in a child process: ${error.message}` };
  const line = stdout.split('\n').find((each) => each.startsWith(marker));
  if (line === undefined)
    return { reason: `loading it ends the process (${signal ?? `status ${status}`})`, isDamage: true };
  const found = JSON.parse(line.slice(marker.length)) as { names?: string[]; error?: string };
  if (found.names === undefined) {
    const message = linkerMessage(found.error);
    return explainLinkerError(message) ?? { reason: message };
  }
  try {
    checkExports(Object.fromEntries(found.names.map((name) => [name, true])), file);
    return undefined;
  } catch (cause) {
    const reason = cause instanceof LorekeepError ? String(cause.detail.reason) : String(cause);
    return { reason, isDamage: true };
  }
}
