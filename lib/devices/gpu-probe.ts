import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { release } from 'node:os';
import { join } from 'node:path';
import { packageFolder } from '../boundary/addon-files.js';
import { addonFile, binding } from '../boundary/binding.js';
import { explainLinkerError } from '../boundary/load-failure.js';
import type { NativeGpuDevice } from '../boundary/native.js';
import { isSingleExecutable, versionOfPackage } from '../boundary/own-package.js';
import { replaceFile } from '../os/own-file.js';
import { readRegular } from '../os/regular-file.js';
import type { GpuPlugin } from './gpu-plugin.js';
import { cacheFolder } from './settings-cache.js';

/** The result of loading a plugin in a child process. `passing`: another attempt may end otherwise. */
export type GpuProbe =
  | { outcome: 'loaded'; devices: NativeGpuDevice[] }
  | { outcome: 'version' | 'library' | 'failed'; reason: string; passing?: boolean };

/** A driver that takes longer is unusable. */
const limitMs = 30_000;
const maxOutput = 1 << 20;
const marker = 'lorekeep-gpu-probe:';

/** Loads the plugin and opens each device, as a model would. */
const script = `
const [addon, plugin] = process.argv.slice(1);
const tell = (found) => require('node:fs').writeSync(1, '\\n${marker}' + JSON.stringify(found) + '\\n');
try {
  const binding = require(addon);
  const devices = binding.loadGpuPlugin(plugin);
  for (const { name } of devices) binding.tryGpu(name);
  tell({ devices });
} catch (error) {
  tell({ error: String(error.message) });
}
process.exit(0);
`;

/** Environment variables that change which devices a driver has. */
const driverVariables =
  /^(GGML_|VK_|CUDA_|HIP_|ROCR_|HSA_|NVIDIA_|MESA_|LIBGL_|DRI_|XDG_DATA_|LD_LIBRARY_PATH$|LOREKEEP_SOFTWARE_GPU$)/;

/**
 * Returns whether a plugin works on this machine, by loading it in a child process: a defective driver cannot end this
 * one. Devices and crashes are kept per driver and plugin; `fresh` asks again. A missing library, a missing device and
 * a child that was too slow are not kept: they cost little, and nothing shows when they end.
 */
export async function probePlugin(
  plugin: GpuPlugin,
  { fresh = false, environment = process.env }: { fresh?: boolean; environment?: NodeJS.ProcessEnv } = {},
): Promise<GpuProbe> {
  const version = binding.ggmlVersion();
  if (plugin.ggml !== undefined && plugin.ggml !== version) {
    const reason = `${plugin.file} is for ggml ${plugin.ggml}, and this lorekeep has ggml ${version}`;
    return { outcome: 'version', reason };
  }
  const key = cacheKey(plugin, environment);
  const known = fresh ? undefined : (await readCache())[key];
  if (known !== undefined) return known;
  const found = (await contradiction(plugin)) ?? (await runProbe(plugin.file, environment));
  if (lasts(found)) await writeCache(key, found);
  return found;
}

function lasts(probe: GpuProbe): boolean {
  return probe.outcome === 'loaded'
    ? probe.devices.length > 0
    : probe.outcome === 'failed' && probe.passing !== true;
}

/**
 * A plugin that is not the published file, or that uses another package's ggml, is not loaded. That ggml may be in the
 * process already, and structures of two versions crash each other.
 */
async function contradiction({ file, sha256 }: GpuPlugin): Promise<GpuProbe | undefined> {
  const { hash, hasOurs, hasOther } = await inspect(file);
  if (sha256 !== undefined && hash !== sha256)
    return { outcome: 'failed', reason: `${file} has SHA-256 ${hash}, and its package states ${sha256}` };
  if (hasOurs || !hasOther) return undefined;
  const reason = `${file} was built for another package: it does not use ${ggmlLibrary()}`;
  return { outcome: 'version', reason };
}

/** Name of this version's ggml library in the files that use it, without beginning and ending (native/cmake/LlamaCpp.cmake). */
const ggmlLibrary = () => `lorekeep-${versionOfPackage(packageFolder())}-ggml-base`;

/** Reads a plugin once: its SHA-256, and whether it names our ggml library or another one. */
async function inspect(file: string): Promise<{ hash: string; hasOurs: boolean; hasOther: boolean }> {
  const hash = createHash('sha256');
  const ours = ggmlLibrary();
  let before = Buffer.alloc(0);
  let [hasOurs, hasOther] = [false, false];
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    const bytes = Buffer.concat([before, chunk]);
    hasOurs ||= bytes.includes(ours);
    hasOther ||= bytes.includes('ggml-base');
    before = bytes.subarray(-ours.length);
  }
  return { hash: hash.digest('hex'), hasOurs, hasOther };
}

function runProbe(file: string, environment: NodeJS.ProcessEnv): Promise<GpuProbe> {
  if (isSingleExecutable()) {
    const reason = 'a single executable has no Node.js program in which the plugin could be tried';
    return Promise.resolve({ outcome: 'failed', reason });
  }
  // A program that embeds Node, such as Electron, runs as Node. Options such as --inspect are not for the child.
  const env = { ...environment, ELECTRON_RUN_AS_NODE: '1', NODE_OPTIONS: '' };
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ['-e', script, addonFile, file], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      windowsHide: true,
      timeout: limitMs,
      killSignal: 'SIGKILL',
    });
    let output = '';
    let errors = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-maxOutput);
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      errors = (errors + text).slice(-maxOutput);
    });
    child.on('error', ({ message }) =>
      resolve({ outcome: 'failed', reason: `no child process could be started: ${message}`, passing: true }),
    );
    child.on('close', (code, signal) => resolve(readAnswer(output, errors, code, signal)));
  });
}

/** Signals of the time limit, and signals that end this process and its children: Ctrl+C, a closed terminal, a service manager. */
const endedFromOutside = new Set(['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT']);

function readAnswer(output: string, errors: string, code: number | null, signal: string | null): GpuProbe {
  const line = output.split('\n').find((each) => each.startsWith(marker));
  if (line === undefined) {
    const last = errors.trim().split('\n').at(-1) ?? '';
    const end =
      signal === 'SIGKILL' ? `did not answer in ${limitMs / 1000} s` : `crashed (${signal ?? code})`;
    const reason = `the plugin ${end} in a child process${last && `: ${last}`}`;
    return { outcome: 'failed', reason, passing: endedFromOutside.has(signal ?? '') };
  }
  const { devices, error } = JSON.parse(line.slice(marker.length)) as {
    devices?: NativeGpuDevice[];
    error?: string;
  };
  if (devices !== undefined) return { outcome: 'loaded', devices };
  const missing = explainLinkerError(error ?? '');
  if (missing !== undefined) return { outcome: 'library', reason: missing.reason };
  return { outcome: 'failed', reason: error ?? 'no reason given' };
}

/** A hash of everything that the answer depends on. */
function cacheKey({ file, ggml, sha256 }: GpuPlugin, environment: NodeJS.ProcessEnv): string {
  const { size, mtimeMs } = statSync(file);
  const own = readFileSync(join(packageFolder(), 'package.json'), 'utf8');
  const { version } = JSON.parse(own) as { version: string };
  const facts = [file, size, mtimeMs, ggml, sha256, version, binding.ggmlVersion(), driver(environment)];
  return createHash('sha256').update(JSON.stringify(facts)).digest('hex').slice(0, 32);
}

/** Facts that change when a driver is installed, removed or updated. */
function driver(environment: NodeJS.ProcessEnv): unknown[] {
  const systemRoot = environment.SystemRoot ?? '';
  const files = [
    '/sys/module/nvidia/version',
    '/sys/module/amdgpu/version',
    '/sys/module/amdgpu/srcversion',
    '/sys/module/i915/srcversion',
  ].map(readShort);
  // A linker's cache changes with each package that brings libraries; groups decide who may open a device.
  const linker = stamp('/etc/ld.so.cache');
  const groups = process.getgroups?.().sort().join() ?? '';
  const devices = ['/dev/nvidiactl', '/dev/nvidia0', '/dev/kfd'].map((path) => String(existsSync(path)));
  const folders = [
    '/dev/dri',
    '/usr/share/vulkan/icd.d',
    '/usr/local/share/vulkan/icd.d',
    '/etc/vulkan/icd.d',
  ].map(listing);
  const libraries = ['vulkan-1.dll', 'nvcuda.dll', 'amdhip64.dll'].map((name) =>
    systemRoot ? stamp(join(systemRoot, 'System32', name)) : '',
  );
  const variables = Object.entries(environment).filter(([name]) => driverVariables.test(name));
  const system = [release(), linker, groups, ...devices, ...files, ...folders, ...libraries];
  return [...system, ...variables.sort().flat()];
}

function readShort(path: string): string {
  try {
    return readFileSync(path, 'utf8').slice(0, 200);
  } catch {
    return '';
  }
}

function listing(folder: string): string {
  try {
    return readdirSync(folder)
      .sort()
      .map((name) => `${name} ${stamp(join(folder, name))}`)
      .join();
  } catch {
    return '';
  }
}

function stamp(path: string): string {
  try {
    const { size, mtimeMs } = statSync(path);
    return `${size} ${mtimeMs}`;
  } catch {
    return '';
  }
}

/** Several plugins, and drivers of machines that share a home folder. */
const maxEntries = 50;
const maxBytes = 1 << 20;
const cacheFile = () => join(cacheFolder(), 'gpu-probes.json');

async function readCache(): Promise<Record<string, GpuProbe>> {
  try {
    const { probes } = JSON.parse(await readRegular(cacheFile(), maxBytes)) as { probes: object };
    return Object.fromEntries(Object.entries(probes).filter(([, probe]) => isProbe(probe)));
  } catch {
    return {};
  }
}

async function writeCache(key: string, probe: GpuProbe): Promise<void> {
  const others = Object.entries(await readCache()).filter(([other]) => other !== key);
  const probes = Object.fromEntries([...others, [key, probe] as const].slice(-maxEntries));
  const text = `${JSON.stringify({ probes }, undefined, 1)}\n`;
  const isOurs = (content: string) => /^\s*\{\s*"probes"\s*:\s*\{/.test(content);
  // If the file cannot be written, the next start probes again.
  await replaceFile(cacheFile(), text, { isOurs, maxBytes }).catch(() => {});
}

function isProbe(value: unknown): value is GpuProbe {
  const { outcome, reason, devices } = (value ?? {}) as Record<string, unknown>;
  if (outcome !== 'loaded')
    return ['version', 'library', 'failed'].includes(outcome as string) && typeof reason === 'string';
  return Array.isArray(devices) && devices.every(isDevice);
}

function isDevice(value: unknown): value is NativeGpuDevice {
  const { name, description, freeBytes, totalBytes } = (value ?? {}) as Record<string, unknown>;
  return (
    typeof name === 'string' &&
    typeof description === 'string' &&
    typeof freeBytes === 'number' &&
    typeof totalBytes === 'number'
  );
}
