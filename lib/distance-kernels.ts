import { binding } from './binding.js';
import { translateError } from './errors.js';

/** The sets of kernels that compute distances on this processor. */
export interface DistanceKernels {
  /** The one that this process uses: the set that LOREKEEP_KERNELS names if it is available, else the last. */
  readonly used: string;
  /** All that the processor can run, the slowest first. */
  readonly available: readonly string[];
}

/** Which kernels compute distances. The first call of this, or the first index, settles it for the process. */
export function distanceKernels(): DistanceKernels {
  try {
    return binding.distanceKernels();
  } catch (error) {
    throw translateError(error);
  }
}
