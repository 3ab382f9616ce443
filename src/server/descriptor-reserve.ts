import type { Socket } from 'node:net';
import { descriptorLimit } from '../base/machine/descriptor-limit.js';
import type { ServerError } from '../protocol/errors.js';
import { outOfDescriptors } from '../storages/failure.js';

/** Number of descriptors reserved for files that requests name. */
const maxReserved = 32;

/**
 * Reserves file descriptors for files. The system assigns the lowest free number to a new descriptor, so a connection with a
 * high number shows that few are left.
 */
export class DescriptorReserve {
  readonly #first: number;

  /** `limit`: the process's limit of descriptors; undefined if the system does not report it. */
  constructor(limit: number | undefined = descriptorLimit()) {
    this.#first = limit === undefined ? Number.POSITIVE_INFINITY : limit - Math.min(maxReserved, limit / 4);
  }

  /** Returns the reason why a connection cannot be served, or undefined if it can. */
  refusal(socket: Socket): ServerError | undefined {
    const { fd = -1 } = (socket as Socket & { _handle?: { fd?: number } | null })._handle ?? {};
    return fd >= this.#first ? outOfDescriptors() : undefined;
  }
}
