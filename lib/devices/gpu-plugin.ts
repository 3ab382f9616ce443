import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { packageFolder, platform } from '../boundary/addon-files.js';
import type { GpuBackend } from './backend-candidate.js';

/** Name of the file next to a plugin that describes it. */
const pluginFacts = 'lorekeep-plugin.json';

export interface GpuPlugin {
  readonly file: string;
  /** Version of ggml that it was built for, and the file's hash; undefined if nothing states them. */
  readonly ggml: string | undefined;
  readonly sha256: string | undefined;
}

/** Returns the name of the npm package with a plugin for this platform. */
export function pluginPackage(backend: GpuBackend): string {
  return `@lorekeep/${platform}-${backend}`;
}

function pluginName(backend: GpuBackend): string {
  return process.platform === 'win32' ? `ggml-${backend}.dll` : `libggml-${backend}.so`;
}

/**
 * Returns the plugin of a backend: of the folder in LOREKEEP_BACKENDS, of a build in this checkout, of this package's
 * prebuilds, else of the npm package. Undefined if there is none.
 */
export function findPlugin(backend: GpuBackend): GpuPlugin | undefined {
  const file = folders(backend)
    .map((folder) => join(folder, pluginName(backend)))
    .find((path) => existsSync(path));
  if (file === undefined) return undefined;
  const { ggml, sha256 } = readFacts(join(dirname(file), pluginFacts), backend);
  return { file, ggml, sha256 };
}

function folders(backend: GpuBackend): string[] {
  const root = packageFolder();
  const { LOREKEEP_BACKENDS, PREBUILDS_ONLY } = process.env;
  return [
    ...(LOREKEEP_BACKENDS ? [LOREKEEP_BACKENDS] : []),
    ...(PREBUILDS_ONLY ? [] : [join(root, 'backends', backend)]),
    join(root, 'prebuilds', platform, 'backends', backend),
    ...packageOf(backend, root),
  ];
}

/** Only packages installed next to lorekeep are used, not those in the current folder. */
function packageOf(backend: GpuBackend, root: string): string[] {
  try {
    const require = createRequire(join(root, 'package.json'));
    return [dirname(require.resolve(`${pluginPackage(backend)}/package.json`))];
  } catch {
    return [];
  }
}

function readFacts(path: string, backend: GpuBackend): { ggml?: string; sha256?: string } {
  try {
    const facts = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
    if (facts.backend !== backend) return {};
    const { ggml, sha256 } = facts;
    return {
      ...(typeof ggml === 'string' && { ggml }),
      ...(typeof sha256 === 'string' && { sha256 }),
    };
  } catch {
    return {};
  }
}
