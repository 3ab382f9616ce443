import { binding } from './binding.js';
import type { NativeBeneathRequest, NativeBeneathResult } from './native.js';
import { callNative } from './native-call.js';

export type BeneathRequest = NativeBeneathRequest;
export type BeneathResult = NativeBeneathResult;

/**
 * Opens a file by a path that somebody else chose, without leaving a folder (native/core/beneath.h).
 * @throws IO when the system fails; UNSUPPORTED on Windows
 * @internal
 */
export function openBeneath(request: BeneathRequest): Promise<BeneathResult> {
  return callNative(undefined, () => binding.openBeneath(request));
}
