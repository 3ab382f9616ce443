/** The sets of distance kernels on this processor. */
export interface DistanceKernels {
  /** The set that this process uses: the one in LOREKEEP_KERNELS if it is available, else the last. */
  readonly used: string;
  /** All sets that the processor can run, slowest first. */
  readonly available: readonly string[];
}

/** A device of a GPU plugin. */
export interface NativeGpuDevice {
  name: string;
  description: string;
  freeBytes: number;
  totalBytes: number;
}

export interface NativeBackendInfo {
  name: string;
  description: string;
  /** Path of the plugin; empty if the platform cannot find it. */
  file: string;
  features: string[];
}
