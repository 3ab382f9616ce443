/** Explains why the addon does not load: which files were tried, which one is missing, and what to do. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { platform } from './addon-files.js';
import { LorekeepError } from './errors.js';
import { nativeExports } from './native.js';
import { archiveError, bundledError, versionOfPackage } from './own-package.js';
import { compileCommand } from './source-package.js';

/** Why a library does not load. */
export interface LoadProblem {
  /** A clause. */
  reason: string;
  /** Whether its files are not whole, as opposed to not made for this system. */
  isDamage?: boolean;
  /** The shared library that is missing. */
  missingLibrary?: string;
  /** The remedy, if neither compiling nor reinstalling helps. */
  remedy?: string;
}

const isOwnLibrary = /^lib(?:lorekeep-|ggml)/;

/** Explains the dynamic linker's message, the system's only report; undefined if the message is unknown. */
export function explainLinkerError(message: string): LoadProblem | undefined {
  const version = /version [`'](GLIBC|GLIBCXX|CXXABI)_([\d.]+)' not found/.exec(message);
  if (version?.[1] === 'GLIBC')
    return { reason: `it needs glibc ${version[2]} or newer, and this system's is older` };
  if (version)
    return { reason: `it needs a newer libstdc++ (${version[1]}_${version[2]}) than this system has` };
  if (/cannot open shared object file: Permission denied/.test(message))
    return {
      reason: 'this user may not read it, or a library beside it',
      remedy: 'let this user read the files of the package, or install it as this user',
    };
  if (/libc\.musl-|\bld-linux|^No native build was found for .* libc=/.test(message))
    return { reason: "it was built for another C library than this system's" };
  const library = /(?:^|\s)([\w.+-]+\.(?:so[\w.]*|dylib|dll)): cannot open shared object file/.exec(
    message,
  )?.[1];
  if (library !== undefined) {
    const reason = `the shared library ${library} is missing`;
    return { reason, isDamage: isOwnLibrary.test(library), missingLibrary: library };
  }
  const built = /NODE_MODULE_VERSION (\d+)/.exec(message);
  if (built) {
    const own = process.versions.modules;
    return {
      reason: `it was built for another Node.js (NODE_MODULE_VERSION ${built[1]}, and this Node.js has ${own})`,
    };
  }
  if (/did not self-register/.test(message)) return { reason: 'it is not an addon for this Node.js' };
  if (/Library not loaded/.test(message)) return { reason: 'a shared library that it needs is missing' };
  if (
    /wrong ELF class|invalid ELF header|file too short|incompatible architecture|not a valid Win32/.test(
      message,
    )
  ) {
    return {
      reason: 'it is damaged, or was built for another operating system or processor',
      isDamage: true,
    };
  }
  if (/undefined symbol/.test(message))
    return { reason: 'it and the libraries beside it come from different builds', isDamage: true };
  return undefined;
}

/**
 * Returns the error for an addon that is absent or does not load. `tried`: the candidate .node files for this platform,
 * best first; `cause`: the error of the attempt; `isDamage`: whether it is known that the files are not whole.
 */
export function loadFailure(
  root: string,
  tried: readonly string[],
  cause: unknown,
  isDamage: boolean,
): LorekeepError {
  if (!isCheckout(root) && versionOfPackage(root) === undefined) return bundledError(root, cause);
  const archived = archiveError(root, cause);
  if (archived !== undefined) return archived;
  const linker = linkerMessage(cause);
  const problem = explainLinkerError(linker) ?? { reason: linker, isDamage };
  const [first] = tried;
  const facts = {
    field: 'native addon',
    remedy: problem.remedy ?? remedy(root, first !== undefined && problem.isDamage),
    platform,
    tried,
    linker,
  };
  if (first === undefined) {
    const places = process.env.PREBUILDS_ONLY ? 'prebuilds/' : 'build/Release/ or prebuilds/';
    const reason = `there is none for ${platform} in ${places} of ${root}`;
    return LorekeepError.about('UNSUPPORTED', { ...facts, reason }, { cause });
  }
  const reason = `${first} does not load: ${problem.reason}`;
  return LorekeepError.about('UNSUPPORTED', { ...facts, reason }, { cause });
}

/** A published package has no biome.json. */
export const isCheckout = (root: string): boolean => existsSync(join(root, 'biome.json'));

/** Returns the error of an attempt to load a library, on one line. */
export function linkerMessage(cause: unknown): string {
  const lines = (cause instanceof Error ? cause.message : String(cause)).split('\n');
  // Node.js wraps its message about NODE_MODULE_VERSION over several lines.
  return /NODE_MODULE_VERSION/.test(lines[1] ?? '') ? lines.slice(0, 2).join(' ') : (lines[0] ?? '');
}

function remedy(root: string, isDamage = false): string {
  if (isCheckout(root)) return 'run `npm run build`; `lorekeep doctor` explains more';
  const compile = `\`${compileCommand(root)}\` compiles it from source, with a C++20 compiler and CMake on PATH`;
  const steps = isDamage ? `install lorekeep again, or: ${compile}` : compile;
  return `${steps}; \`npx lorekeep doctor\` explains more`;
}

/** Throws if `exports` lacks a name: an addon built from other sources would otherwise fail later, during a call. */
export function checkExports(exports: object, file: string): void {
  const missing = nativeExports.filter((name) => !(name in exports));
  if (missing.length === 0) return;
  throw LorekeepError.about('UNSUPPORTED', {
    field: 'native addon',
    reason: `${file} is of another build than the JavaScript that loads it: it lacks ${missing.join(', ')}`,
    remedy: 'run `npm run build` or reinstall the package; `npx lorekeep doctor` explains more',
    platform,
    tried: [file],
    missing,
  });
}
