import { binding } from './binding.js';
import { translateError } from './errors.js';

/** The sets of distance kernels on this processor. */
export interface DistanceKernels {
  /** The set that this process uses: the one in LOREKEEP_KERNELS if it is available, else the last. */
  readonly used: string;
  /** All sets that the processor can run, slowest first. */
  readonly available: readonly string[];
}

/** Returns the distance kernels. The first call of this function, or the first index, fixes the choice for the process. */
export function distanceKernels(): DistanceKernels {
  try {
    return binding.distanceKernels();
  } catch (error) {
    throw translateError(error);
  }
}
