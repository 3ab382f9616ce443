/** Explains why the addon does not load: which files were tried, which one is missing, and what to do. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { platform } from './addon-files.js';
import { LorekeepError } from './errors.js';
import { nativeExports } from './native.js';
import { archiveError, bundledError, versionOfPackage } from './own-package.js';
import { compileCommand } from './source-package.js';

/** Returns a clause that explains the dynamic linker's message; undefined if the message is unknown. */
export function explainLinkerError(message: string): string | undefined {
  const version = /version [`'](GLIBC|GLIBCXX|CXXABI)_([\d.]+)' not found/.exec(message);
  if (version?.[1] === 'GLIBC') return `it needs glibc ${version[2]} or newer, and this system's is older`;
  if (version) return `it needs a newer libstdc++ (${version[1]}_${version[2]}) than this system has`;
  const library = /(?:^|\s)([\w.+-]+\.(?:so[\w.]*|dylib|dll)): cannot open shared object file/.exec(message);
  if (library) return `the shared library ${library[1]} is missing`;
  const built = /NODE_MODULE_VERSION (\d+)/.exec(message);
  if (built) {
    const own = process.versions.modules;
    return `it was built for another Node.js (NODE_MODULE_VERSION ${built[1]}, and this Node.js has ${own})`;
  }
  if (/did not self-register/.test(message)) return 'it is not an addon for this Node.js';
  if (/Library not loaded/.test(message)) return 'a shared library that it needs is missing';
  if (
    /wrong ELF class|invalid ELF header|file too short|incompatible architecture|not a valid Win32/.test(
      message,
    )
  ) {
    return 'it is damaged, or was built for another operating system or processor';
  }
  if (/undefined symbol/.test(message)) return 'it and the libraries beside it come from different builds';
  return undefined;
}

/**
 * Returns the error for an addon that is absent or does not load. `tried`: the candidate .node files for this platform,
 * best first; `cause`: the error of the attempt.
 */
export function loadFailure(root: string, tried: readonly string[], cause: unknown): LorekeepError {
  if (!isCheckout(root) && versionOfPackage(root) === undefined) return bundledError(root, cause);
  const archived = archiveError(root, cause);
  if (archived !== undefined) return archived;
  const linker = linkerMessage(cause);
  const why = explainLinkerError(linker) ?? linker;
  const [first] = tried;
  const facts = { field: 'native addon', remedy: remedy(root, first && why), platform, tried, linker };
  if (first === undefined) {
    const places = process.env.PREBUILDS_ONLY ? 'prebuilds/' : 'build/Release/ or prebuilds/';
    const reason = `there is none for ${platform} in ${places} of ${root}`;
    return LorekeepError.about('UNSUPPORTED', { ...facts, reason }, { cause });
  }
  const reason = `${first} does not load: ${why}`;
  return LorekeepError.about('UNSUPPORTED', { ...facts, reason }, { cause });
}

/** Whether a reason for which an addon does not load says that its files are not whole, as opposed to not made for this system. */
export function isDamage(reason: string): boolean {
  return /truncated|damaged|different builds|another build|ends the process|lib(?:llama|ggml)/.test(reason);
}

/** A published package has no biome.json. */
export const isCheckout = (root: string): boolean => existsSync(join(root, 'biome.json'));

/** Returns the error of an attempt to load a library, on one line. */
export function linkerMessage(cause: unknown): string {
  const lines = (cause instanceof Error ? cause.message : String(cause)).split('\n');
  // Node.js wraps its message about NODE_MODULE_VERSION over several lines.
  return /NODE_MODULE_VERSION/.test(lines[1] ?? '') ? lines.slice(0, 2).join(' ') : (lines[0] ?? '');
}

/** `why`: the reason for which an addon that is there does not load. */
function remedy(root: string, why: string | undefined): string {
  if (isCheckout(root)) return 'run `npm run build`; `lorekeep doctor` tells more';
  const compile = `\`${compileCommand(root)}\` compiles it from source, with a C++20 compiler and CMake on PATH`;
  const steps = why !== undefined && isDamage(why) ? `install lorekeep again, or: ${compile}` : compile;
  return `${steps}; \`npx lorekeep doctor\` tells more`;
}

/** Throws if `exports` lacks a name: an addon built from other sources would otherwise fail later, during a call. */
export function checkExports(exports: object, file: string): void {
  const missing = nativeExports.filter((name) => !(name in exports));
  if (missing.length === 0) return;
  throw LorekeepError.about('UNSUPPORTED', {
    field: 'native addon',
    reason: `${file} is of another build than the JavaScript that loads it: it lacks ${missing.join(', ')}`,
    remedy: 'run `npm run build` or reinstall the package; `npx lorekeep doctor` tells more',
    platform,
    tried: [file],
    missing,
  });
}
