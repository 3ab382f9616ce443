import type { DistanceKernels } from '../../lib/index.js';
import { didYouMean, nearestName } from '../schema/nearest.js';
import { configFlags } from './flags.js';

/** Characters of a value that is told. */
const longestShown = 64;

const prefix = 'LOREKEEP_';

/** Variables of the environment that stand for no field: name and meaning. */
export const otherVariables: Readonly<Record<string, string>> = {
  LOREKEEP_ACCESS_TOKEN: '`lorekeep ask`: the access token of the server.',
  LOREKEEP_CACHE: 'Folder for what is measured once per machine ([embedder.md](embedder.md#runtimes)).',
  LOREKEEP_CPU_PLUGIN: "The engine's CPU plugin: a file name among those beside the addon, or a path.",
  LOREKEEP_CPU_VARIANTS: '`npm install` without a prebuild: `native` or `all` ([building.md](building.md)).',
  LOREKEEP_DEBUG: '`1`: the message of a failed command has its stack.',
  LOREKEEP_JOBS: 'Building from source: files compiled at a time.',
  LOREKEEP_KERNELS:
    'The most capable instruction set that kernels may use ([vector-index.md](vector-index.md)).',
};

/** Those of tests and benchmarks, and those that Kubernetes makes for a service called lorekeep. */
const ofOthers = [/^(BENCH|DATA|RECORDS_MB|TEST_\w+)$/, /^(SERVICE_(HOST|PORT)\w*|PORT_\d+_(TCP|UDP)\w*)$/];

const known = new Set([...configFlags.map(({ variable }) => variable), ...Object.keys(otherVariables)]);

/** A sentence for each variable that looks like one of lorekeep's and is none: it may be misspelt. */
export function unknownVariables(environment: NodeJS.ProcessEnv): string[] {
  return Object.entries(environment)
    .filter(([name, value]) => value && name.toUpperCase().startsWith(prefix) && !isKnown(name))
    .map(([name]) => {
      const nearest = nearestKnown(name.slice(prefix.length));
      return `${name}: is not a known variable of the environment${didYouMean(nearest)}; it has no effect`;
    });
}

/**
 * A sentence when LOREKEEP_KERNELS asks for a set of kernels that is not among those which this processor runs. Empty counts
 * as absent.
 */
export function unknownKernels(
  environment: NodeJS.ProcessEnv,
  { used, available }: DistanceKernels,
): string | undefined {
  const wanted = environment.LOREKEEP_KERNELS;
  if (!wanted || available.includes(wanted)) return undefined;
  const shown = JSON.stringify(wanted.slice(0, longestShown));
  const meant = didYouMean(nearestName(wanted, available));
  const names = available.join(', ');
  return `LOREKEEP_KERNELS: ${shown} is none of the kernels that this processor runs (${names})${meant}; ${used} is used`;
}

/** Windows does not tell upper from lower case in names of variables. */
function isKnown(given: string): boolean {
  const name = process.platform === 'win32' ? given.toUpperCase() : given;
  return known.has(name) || ofOthers.some((pattern) => pattern.test(name.slice(prefix.length)));
}

/** What all names begin with would make any two of them similar. */
function nearestKnown(rest: string): string | undefined {
  const nearest = nearestName(
    rest,
    [...known].map((name) => name.slice(prefix.length)),
  );
  return nearest && prefix + nearest;
}
