import { type ServerError, serverError } from '../protocol/errors.js';

export interface ConnectionSlotLimits {
  max_connections: number;
  max_connections_per_address: number;
}

/** Counts connections, in total and per address. */
export class ConnectionSlots {
  readonly #limits: ConnectionSlotLimits;
  readonly #byAddress = new Map<string, number>();
  #total = 0;

  constructor(limits: ConnectionSlotLimits) {
    this.#limits = limits;
  }

  get total(): number {
    return this.#total;
  }

  /** Takes a slot and returns its idempotent release function; a ServerError if none is free. */
  take(address: string): (() => void) | ServerError {
    const { max_connections, max_connections_per_address } = this.#limits;
    const ofAddress = this.#byAddress.get(address) ?? 0;
    if (ofAddress >= max_connections_per_address) {
      return refusal('this address', 'limits.max_connections_per_address', max_connections_per_address);
    }
    if (this.#total >= max_connections)
      return refusal('the server', 'limits.max_connections', max_connections);
    this.#total++;
    this.#byAddress.set(address, ofAddress + 1);
    let taken = true;
    return () => {
      if (!taken) return;
      taken = false;
      this.#giveBack(address);
    };
  }

  #giveBack(address: string): void {
    this.#total--;
    const left = (this.#byAddress.get(address) as number) - 1;
    if (left === 0) this.#byAddress.delete(address);
    else this.#byAddress.set(address, left);
  }
}

function refusal(whose: string, field: string, limit: number): ServerError {
  const message = `${whose} has reached its limit of ${limit} connections (${field}); close one first`;
  return serverError(6003, message, { field, limit });
}
