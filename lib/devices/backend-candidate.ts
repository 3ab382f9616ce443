import type { NativeGpuDevice } from '../boundary/native.js';

/** GPU backends by the names of their plugins. Metal exists on macOS only. */
export const gpuBackends = ['cuda', 'metal', 'vulkan', 'hip'] as const;
export type GpuBackend = (typeof gpuBackends)[number];

/** A device of a GPU backend. `freeBytes`: when it was probed. */
export type GpuDevice = NativeGpuDevice;

/**
 * `file missing`: no plugin is installed; `library missing`: the plugin needs a library that the system lacks;
 * `other version`: it was built for another ggml; `no device`: it loaded, without a device; `software only`: its devices
 * are software rasterisers; `failed`: the plugin or its driver failed; `not tried`: another one was chosen first.
 */
export type CandidateState =
  | 'chosen'
  | 'file missing'
  | 'library missing'
  | 'other version'
  | 'no device'
  | 'software only'
  | 'failed'
  | 'not tried';

export interface BackendCandidate {
  readonly backend: GpuBackend | 'cpu';
  readonly state: CandidateState;
  /** A sentence for people. */
  readonly reason: string;
  /** Path of the plugin. */
  readonly file: string | undefined;
  readonly devices: readonly GpuDevice[];
}
