/** Tries every file of the addon, for a report about an addon that does not load. Does not load it into this process. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { addonCandidates, packageFolder, platform } from './addon-files.js';
import { LorekeepError } from './errors.js';
import { checkExports, explainLinkerError, isCheckout, linkerMessage } from './load-failure.js';
import { compileCommand } from './source-package.js';
import { truncatedLibrary } from './whole-library.js';

export { isDamage } from './load-failure.js';

/** One .node file, and why it does not load; `reason` is undefined if it loads. */
export interface AddonAttempt {
  file: string;
  reason: string | undefined;
  /** The shared library that the system lacks. */
  missingLibrary?: string | undefined;
}

export interface AddonAttempts {
  /** The package's folder. */
  root: string;
  /** Platform and architecture of this Node.js. */
  platform: string;
  isCheckout: boolean;
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
    compileCommand: compileCommand(root),
    prebuilds: foldersOf(join(root, 'prebuilds')),
    attempts: addonCandidates(root).map(attempt),
  };
}

/** Returns why the file that the loader prefers does not load, without loading it; undefined if it may. */
export function whyNotLoadable(): string | undefined {
  const [first] = addonCandidates(packageFolder());
  if (first === undefined) return undefined; // The loader says so.
  const { reason } = attempt(first);
  return reason && `${first} does not load: ${reason}`;
}

function foldersOf(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

function attempt(file: string): AddonAttempt {
  const truncated = truncatedLibrary(dirname(file));
  if (truncated !== undefined) return { file, reason: truncated };
  const message = loadInChild(file);
  if (message === undefined) return { file, reason: undefined };
  const missingLibrary = /(?:^|\s)([\w.+-]+\.(?:so[\w.]*|dylib|dll)): cannot open/.exec(message)?.[1];
  return { file, reason: explainLinkerError(message) ?? message, missingLibrary };
}

/** Returns why the addon does not load; undefined if it does and is of this build. */
function loadInChild(file: string): string | undefined {
  // A program that embeds Node, such as Electron, runs as Node. Options such as --inspect are not for the child.
  const env = { ...process.env, ELECTRON_RUN_AS_NODE: '1', NODE_OPTIONS: '' };
  const { error, signal, status, stdout } = spawnSync(process.execPath, ['-e', script, file], {
    env,
    encoding: 'utf8',
    timeout: limitMs,
    killSignal: 'SIGKILL',
    windowsHide: true,
  });
  if (error !== undefined) return `it could not be tried in a child process: ${error.message}`;
  const line = stdout.split('\n').find((each) => each.startsWith(marker));
  if (line === undefined) return `loading it ends the process (${signal ?? `status ${status}`})`;
  const found = JSON.parse(line.slice(marker.length)) as { names?: string[]; error?: string };
  if (found.names === undefined) return linkerMessage(found.error);
  try {
    checkExports(Object.fromEntries(found.names.map((name) => [name, true])), file);
    return undefined;
  } catch (cause) {
    return cause instanceof LorekeepError ? String(cause.detail.reason) : String(cause);
  }
}
