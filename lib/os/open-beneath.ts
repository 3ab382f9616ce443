import { binding } from '../boundary/binding.js';
import type { NativeBeneathRequest, NativeBeneathResult } from '../boundary/native.js';
import { callNative } from '../boundary/native-call.js';

export type BeneathRequest = NativeBeneathRequest;
export type BeneathResult = NativeBeneathResult;

/**
 * Opens a file by an untrusted path that must stay inside a folder (native/core/files/beneath.h).
 * @throws IO if the system fails; UNSUPPORTED on Windows
 * @internal
 */
export function openBeneath(request: BeneathRequest): Promise<BeneathResult> {
  return callNative(undefined, () => binding.openBeneath(request));
}
