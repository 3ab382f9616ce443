import type { ClientMemory } from '../fairness/client-memory.js';

/** Bytes on disk that clients may fill: all together, and those that one client answers for. */
export interface DiskLimits {
  readonly all: number;
  readonly client: number;
}

/** What fills the room: memories, or knowledge bases that grow. */
export interface DiskRoomOptions {
  /** Bytes of one. */
  bytesOf(id: string): Promise<number>;
  /** Those that are there at the beginning. */
  known(): Promise<readonly string[]>;
  limits(): DiskLimits;
  /** Frees bytes of one that its content does not need. Returns whether there were some. */
  shrink(id: string): Promise<boolean>;
  /** @throws the refusal of bytes beyond a limit */
  refuse(limit: keyof DiskLimits, bytes: number): never;
}

interface TakenRoom {
  readonly client: ClientMemory;
  readonly bytes: number;
}

/** Counts bytes on disk against the limits of all clients and of one. */
export class DiskRoom {
  readonly #options: DiskRoomOptions;
  readonly #bytes = new Map<string, number>();
  /** What a client has opened in its time. */
  readonly #opened = new WeakMap<ClientMemory, Set<string>>();
  /** Room of changes that are being written. */
  readonly #taken = new Set<TakenRoom>();
  #counted: Promise<void> | undefined;

  constructor(options: DiskRoomOptions) {
    this.#options = options;
  }

  /** Bytes of all. */
  get used(): number {
    return sum(this.#bytes.values());
  }

  /** Notes that a client has opened one: its bytes are the client's from now on. */
  open(client: ClientMemory, id: string): void {
    const own = this.#opened.get(client) ?? new Set();
    this.#opened.set(client, own.add(id));
  }

  /**
   * Takes room for `more` bytes until the returned function is called: when they are measured, or were not written. What the client
   * has opened is shrunk before bytes are refused.
   * @throws the refusal if they are too many for the client, or for all
   */
  async take(client: ClientMemory, more: number): Promise<() => void> {
    this.#counted ??= this.#countAll();
    await this.#counted;
    if (this.#exceeded(client, more) !== undefined) await this.#shrink(client);
    const exceeded = this.#exceeded(client, more);
    if (exceeded !== undefined) this.#options.refuse(exceeded, this.#options.limits()[exceeded]);
    const room = { client, bytes: more };
    this.#taken.add(room);
    return () => void this.#taken.delete(room);
  }

  /** Which limit `more` bytes of a client would exceed. */
  #exceeded(client: ClientMemory, more: number): keyof DiskLimits | undefined {
    const limits = this.#options.limits();
    const own = sum([...(this.#opened.get(client) ?? [])].map((id) => this.#bytes.get(id) ?? 0));
    const taken = [...this.#taken];
    const ownTaken = taken.filter((each) => each.client === client);
    if (own + bytesOf(ownTaken) + more > limits.client) return 'client';
    return this.used + bytesOf(taken) + more > limits.all ? 'all' : undefined;
  }

  async #shrink(client: ClientMemory): Promise<void> {
    for (const id of this.#opened.get(client) ?? [])
      if (await this.#options.shrink(id)) await this.measure(id);
  }

  /** Counts the bytes of one again. */
  async measure(id: string): Promise<void> {
    const bytes = await this.#options.bytesOf(id);
    if (bytes === 0) this.#bytes.delete(id);
    else this.#bytes.set(id, bytes);
  }

  async #countAll(): Promise<void> {
    for (const id of await this.#options.known()) await this.measure(id);
  }
}

const sum = (numbers: Iterable<number>) => Array.from(numbers).reduce((total, each) => total + each, 0);

const bytesOf = (taken: readonly TakenRoom[]) => sum(taken.map(({ bytes }) => bytes));
