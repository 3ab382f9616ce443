import type { Socket } from 'node:net';
import { outOfDescriptors } from '../failure/failure.js';
import { descriptorLimit } from '../files/descriptor-limit.js';
import type { ServerError } from '../protocol/errors.js';

/** Descriptors that clients may not take: files that requests name are opened with them. */
const mostReserved = 32;

/**
 * Keeps some file descriptors for files. The system gives the lowest free number to each new descriptor, so a connection
 * with a high one says that few are left.
 */
export class DescriptorReserve {
  readonly #first: number;

  /** `limit`: how many descriptors the process may have; undefined when the system does not tell. */
  constructor(limit: number | undefined = descriptorLimit()) {
    this.#first = limit === undefined ? Number.POSITIVE_INFINITY : limit - Math.min(mostReserved, limit / 4);
  }

  /** Why a connection cannot be served; undefined if it can. */
  refusal(socket: Socket): ServerError | undefined {
    const { fd = -1 } = (socket as Socket & { _handle?: { fd?: number } | null })._handle ?? {};
    return fd >= this.#first ? outOfDescriptors() : undefined;
  }
}
