import { choiceArgument, integerArgument } from '../boundary/arguments.js';
import { binding } from '../boundary/binding.js';
import { LorekeepError, translateError } from '../boundary/errors.js';
import {
  type BackendCandidate,
  type CandidateState,
  type GpuBackend,
  type GpuDevice,
  gpuBackends,
} from './backend-candidate.js';
import { findPlugin, type GpuPlugin, pluginPackage } from './gpu-plugin.js';
import { probePlugin } from './gpu-probe.js';

export interface BackendChoice {
  readonly backend: GpuBackend | 'cpu';
  /** The device in use; undefined on the CPU. */
  readonly device: GpuDevice | undefined;
  /** Every backend that was considered, in order. */
  readonly candidates: readonly BackendCandidate[];
}

export const backendNames = ['auto', ...gpuBackends, 'cpu'] as const;
export type BackendName = (typeof backendNames)[number];

export interface UseBackendOptions {
  /** Bytes of the GPU's memory that stay free for other programs. Default 0. */
  reserveBytes?: number | undefined;
  /** Counts software rasterisers, such as llvmpipe, as GPUs. Default: whether LOREKEEP_SOFTWARE_GPU is 1. */
  software?: boolean | undefined;
  /** Loads plugins in a child process again, although the result is known. Default: false. */
  fresh?: boolean | undefined;
}

/** Rasterisers on the CPU. Some, such as llvmpipe, call themselves GPUs. */
const rasteriser = /llvmpipe|lavapipe|swiftshader|softpipe|basic render|\bwarp\b/i;

/** HIP is used by name only. */
const automatic: readonly GpuBackend[] =
  process.platform === 'darwin' ? ['metal', 'cuda', 'vulkan'] : ['cuda', 'vulkan'];

const maxReserve = 2 ** 50;

interface Considered {
  readonly candidate: BackendCandidate;
  /** The device to use, if it can be used. */
  readonly device: GpuDevice | undefined;
}

/**
 * Returns which backend `name` means on this machine, and why, without loading it into this process. With a name other
 * than `auto`, the choice is that backend or `cpu`. @throws INVALID_ARGUMENT
 */
export async function findBackend(
  name: BackendName = 'auto',
  options: UseBackendOptions = {},
): Promise<BackendChoice> {
  choiceArgument('backend', name, 'auto', backendNames);
  const wanted = name === 'auto' ? automatic : name === 'cpu' ? [] : [name];
  const candidates: BackendCandidate[] = [];
  let chosen: { backend: GpuBackend; device: GpuDevice } | undefined;
  for (const backend of wanted) {
    if (chosen !== undefined) {
      candidates.push(passedOver(backend, `${chosen.backend} was chosen`));
      continue;
    }
    const { candidate, device } = await consider(backend, options);
    candidates.push(candidate);
    if (device !== undefined) chosen = { backend, device };
  }
  if (name === 'auto') candidates.push(passedOver('hip', 'auto never chooses it; name it to use it'));
  const cpu = passedOver('cpu', `${chosen?.backend} was chosen`);
  candidates.push(chosen === undefined ? { ...cpu, state: 'chosen', reason: 'always there' } : cpu);
  return { backend: chosen?.backend ?? 'cpu', device: chosen?.device, candidates };
}

/**
 * Lets models of this process use a GPU: `auto` takes CUDA, else Vulkan (on macOS Metal first), else the CPU. Models that
 * are loaded stay where they are. @throws UNSUPPORTED if the named backend cannot be used: `detail.candidates` says why;
 * INVALID_ARGUMENT
 */
export async function useBackend(
  name: BackendName = 'auto',
  options: UseBackendOptions = {},
): Promise<BackendChoice> {
  const reserve = integerArgument('reserveBytes', options.reserveBytes, 0, 0, maxReserve);
  const choice = await findBackend(name, options);
  const [first] = choice.candidates;
  if (name !== 'auto' && name !== choice.backend)
    throw new LorekeepError('UNSUPPORTED', `backend ${name}: ${first?.reason}`, {
      reason: first?.reason,
      candidates: choice.candidates,
    });
  try {
    return load(choice, reserve, options);
  } catch (error) {
    if (name !== 'auto') throw translateError(error);
    // It worked in the child process, so this is rare: a driver that was removed, or a lack of memory.
    const reason = (error as Error).message;
    const candidates = choice.candidates.map((candidate) =>
      candidate.state === 'chosen' ? { ...candidate, state: 'failed' as const, reason } : candidate,
    );
    return load({ backend: 'cpu', device: undefined, candidates }, 0, options);
  }
}

function load(choice: BackendChoice, reserve: number, options: UseBackendOptions): BackendChoice {
  const { device, candidates } = choice;
  if (device === undefined) {
    binding.chooseGpu('', 0);
    return choice;
  }
  Object.assign(process.env, rasteriserVariables(options));
  const file = candidates.find(({ state }) => state === 'chosen')?.file as string;
  const found = binding.loadGpuPlugin(file).find(({ name }) => name === device.name);
  binding.chooseGpu(device.name, reserve);
  return { ...choice, device: found ?? device };
}

async function consider(backend: GpuBackend, options: UseBackendOptions): Promise<Considered> {
  const base = { backend, file: undefined, devices: [] };
  const plugin = findPlugin(backend);
  if (plugin === undefined) {
    const reason = `the package ${pluginPackage(backend)} is not installed (docs/guides/devices.md)`;
    return { candidate: { ...base, state: 'file missing', reason }, device: undefined };
  }
  const { file } = plugin;
  const environment = { ...process.env, ...rasteriserVariables(options) };
  const probe = await probePlugin(plugin, { fresh: options.fresh === true, environment });
  if (probe.outcome !== 'loaded') {
    const { reason } = probe;
    return { candidate: { ...base, file, state: failures[probe.outcome], reason }, device: undefined };
  }
  const hides = backend === 'vulkan' && probe.devices.length === 0;
  const devices = hides ? await hiddenDevices(plugin, options) : probe.devices;
  return choose({ ...base, file }, devices, options);
}

/** Returns the software rasterisers that the Vulkan plugin ignores unless they count as GPUs. */
async function hiddenDevices(plugin: GpuPlugin, options: UseBackendOptions): Promise<readonly GpuDevice[]> {
  if (countsSoftware(options) || process.env[visibleDevices] !== undefined) return [];
  const environment = { ...process.env, ...namedDevice };
  const probe = await probePlugin(plugin, { fresh: options.fresh === true, environment });
  return probe.outcome === 'loaded' ? probe.devices.filter(isSoftware) : [];
}

const failures = { version: 'other version', library: 'library missing', failed: 'failed' } as const;

function choose(
  base: Pick<BackendCandidate, 'backend' | 'file'>,
  devices: readonly GpuDevice[],
  options: UseBackendOptions,
): Considered {
  const usable = devices.filter((device) => countsSoftware(options) || !isSoftware(device));
  const [device] = usable;
  const told = (state: CandidateState, reason: string) => ({ ...base, state, reason, devices });
  if (device !== undefined)
    return { candidate: told('chosen', `${device.name}: ${device.description}`), device };
  const [software] = devices;
  const candidate =
    software === undefined
      ? told('no device', 'the plugin loaded and found no device')
      : told(
          'software only',
          `${software.description} computes on the CPU; set LOREKEEP_SOFTWARE_GPU=1 to use it`,
        );
  return { candidate, device: undefined };
}

function countsSoftware({ software }: UseBackendOptions): boolean {
  return software ?? process.env.LOREKEEP_SOFTWARE_GPU === '1';
}

const isSoftware = ({ description }: GpuDevice) => rasteriser.test(description);

/** ggml's Vulkan plugin ignores rasterisers unless devices are named. */
const visibleDevices = 'GGML_VK_VISIBLE_DEVICES';
const namedDevice = { [visibleDevices]: '0' };

function rasteriserVariables(options: UseBackendOptions): Record<string, string> {
  if (!countsSoftware(options) || process.env[visibleDevices] !== undefined) return {};
  return namedDevice;
}

function passedOver(backend: GpuBackend | 'cpu', reason: string): BackendCandidate {
  return { backend, state: 'not tried', reason, file: undefined, devices: [] };
}
