import type { DistanceKernels } from '../../lib/internal.js';
import { didYouMean, nearestName } from '../base/schema/nearest.js';
import { configFlags } from './flags.js';

/** Number of characters of a value shown in a message. */
const longestShown = 64;

const prefix = 'LOREKEEP_';

/** Meaning, by name, of the environment variables that set no config field. */
export const otherVariables: Readonly<Record<string, string>> = {
  DO_NOT_TRACK: 'Any value but `0`, or anything but `1`, `true`, `on` and `yes`: no telemetry.',
  LOREKEEP_ACCESS_TOKEN: '`lorekeep ask`: the access token of the server.',
  LOREKEEP_BACKENDS: 'Folder with GPU plugins, searched first ([devices](../guides/devices.md)).',
  LOREKEEP_CACHE:
    'Cache folder of settings measured on this machine ([embedding](../internals/inference.md#embedding-runtimes)).',
  LOREKEEP_CPU_PLUGIN: "The engine's CPU plugin: a file name next to the addon, or a path.",
  LOREKEEP_CPU_VARIANTS:
    'CPU variants compiled by `npm install` without a prebuild: `native` or `all` ([building](../internals/building.md)).',
  LOREKEEP_DEBUG: '`1`: a failed command prints the stack trace.',
  LOREKEEP_JOBS: 'Number of parallel compilations when building from source.',
  LOREKEEP_KERNELS: 'Most capable instruction set to use ([vector index](../internals/vector-index.md)).',
  LOREKEEP_MODELS: 'Folder in which `npm start` looks for a language model.',
  LOREKEEP_RUNTIME:
    'Runtime of language models in place of the measured one: `llama.cpp` or `decoder` ([inference](../internals/inference.md#runtimes)).',
  LOREKEEP_SOFTWARE_GPU:
    '`1`: software rasterisers, such as llvmpipe, are used as GPUs ([devices](../guides/devices.md)).',
  LOREKEEP_STATE: 'The [data folder](#the-data-folder), as `--data-dir`.',
  LOREKEEP_TELEMETRY: '`0`: no telemetry ([telemetry](../guides/diagnostics.md#telemetry)).',
  LOREKEEP_WATCHDOG:
    '`1`, or a file: `lorekeep serve` of the development edition logs work that takes too long, and adds it to the file ([diagnostics](../guides/diagnostics.md#work-that-takes-too-long)).',
};

/** Variables of tests and benchmarks, and variables that Kubernetes sets for a service named lorekeep. */
const ofOthers = [/^(BENCH|DATA|RECORDS_MB|TEST_\w+)$/, /^(SERVICE_(HOST|PORT)\w*|PORT_\d+_(TCP|UDP)\w*)$/];

const known = new Set([...configFlags.map(({ variable }) => variable), ...Object.keys(otherVariables)]);

const runtimes = ['llama.cpp', 'decoder'];

/** Returns a warning for each unknown variable that starts with `LOREKEEP_`, and for an unknown runtime. */
export function unknownVariables(environment: NodeJS.ProcessEnv): string[] {
  const unknown = Object.entries(environment)
    .filter(([name, value]) => value && name.toUpperCase().startsWith(prefix) && !isKnown(name))
    .map(([name]) => {
      const nearest = nearestKnown(name.slice(prefix.length));
      return `${name}: is not a known variable of the environment and has no effect${didYouMean(nearest)}`;
    });
  const runtime = environment.LOREKEEP_RUNTIME;
  if (!runtime || runtimes.includes(runtime)) return unknown;
  const shown = JSON.stringify(runtime.slice(0, longestShown));
  const meant = didYouMean(nearestName(runtime, runtimes));
  return [
    ...unknown,
    `LOREKEEP_RUNTIME: ${shown} is not one of ${runtimes.join(', ')} and has no effect${meant}`,
  ];
}

/** Returns a warning if LOREKEEP_KERNELS names kernels that do not exist or that this processor cannot run. */
export function unknownKernels(
  environment: NodeJS.ProcessEnv,
  { used, available }: DistanceKernels,
): string | undefined {
  const wanted = environment.LOREKEEP_KERNELS;
  if (!wanted || available.includes(wanted)) return undefined;
  const shown = JSON.stringify(wanted.slice(0, longestShown));
  const meant = didYouMean(nearestName(wanted, available));
  const names = available.join(', ');
  return `LOREKEEP_KERNELS: this processor does not run ${shown}, only ${names}${meant}; ${used} is used`;
}

/** Variable names are case-insensitive on Windows. */
function isKnown(given: string): boolean {
  const name = process.platform === 'win32' ? given.toUpperCase() : given;
  return known.has(name) || ofOthers.some((pattern) => pattern.test(name.slice(prefix.length)));
}

/** Compares names without the common prefix, which would make any two of them similar. */
function nearestKnown(rest: string): string | undefined {
  const nearest = nearestName(
    rest,
    [...known].map((name) => name.slice(prefix.length)),
  );
  return nearest && prefix + nearest;
}
