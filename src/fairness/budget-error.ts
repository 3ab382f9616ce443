import { inMiB } from '../base/machine/mebibytes.js';
import { type ServerError, serverError } from '../protocol/errors.js';

export type BudgetOwner = 'client' | 'server';

/** A limit that a request would exceed. */
export interface Excess {
  /** Whether the limit is for V8's heap alone, or for all memory. */
  heap: boolean;
  needed: number;
  limit: number;
}

/** Returns the error for a refused request or client: budget, both numbers, remedy. `what` starts the sentence. */
export function budgetError(owner: BudgetOwner, what: string, { heap, needed, limit }: Excess): ServerError {
  const whose = owner === 'client' ? "this client's budget" : "the server's budget for all clients";
  const memory = heap ? ' of JavaScript memory' : '';
  const numbers = `${inMiB(needed)}${memory} would be in use, ${inMiB(limit)} are allowed by ${whose}`;
  const remedy = heap
    ? 'a larger --max-old-space-size for Node.js'
    : owner === 'client'
      ? 'a larger max_client_memory_mb'
      : 'a larger max_memory_mb';
  const message = `${what}: ${numbers}; destroy what is not needed, send less at a time, or ask the operator for ${remedy}`;
  const details = { budget: owner, memory: heap ? 'heap' : 'total', needed, limit } as const;
  return serverError(owner === 'client' ? 6001 : 6002, message, details);
}
