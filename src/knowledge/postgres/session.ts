import { randomUUID } from 'node:crypto';
import { connect as connectSocket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { onAbort } from '../../../lib/basics.js';
import type { HostPort } from './connection.js';

export type Row = Readonly<Record<string, unknown>>;

/** The part of the driver's client that is used. */
export interface DriverClient {
  connect(): Promise<void>;
  query(query: { text: string; values: string[]; name?: string }): Promise<{ rows: Row[] }>;
  end(): Promise<void>;
  on(event: 'error' | 'end', listener: (error?: unknown) => void): void;
  readonly processID: number;
  readonly secretKey: number;
  readonly connection: { readonly stream: { destroy(): unknown } };
}

export interface SessionOptions {
  readonly place: HostPort;
  /** As node:tls takes them; undefined: nothing is encrypted. */
  readonly tls: object | undefined;
  /** Whether statements may be prepared: not if a pooler gives each transaction another server process. */
  readonly prepares: boolean;
}

/** Statements that a session prepares: filters may have any number of shapes. */
const mostPrepared = 64;
/** Time for a cancelled statement to end, and for a rollback, before the connection is cut. */
const patienceMs = 2000;
const longestCommitMs = 60_000;

/** One connection to a server. It runs a statement at a time. */
export class Session {
  readonly #client: DriverClient;
  readonly #options: SessionOptions;
  /** In names of prepared statements: others may share the server's process with it. */
  readonly #id = randomUUID();
  readonly #names = new Map<string, string>();
  #running: Promise<unknown> = Promise.resolve();
  /** Until it has ended, a cancellation may meet the next statement. */
  #cancelling: Promise<unknown> = Promise.resolve();
  #isOpen = true;
  #inTransaction = false;

  /** `client`: connected. */
  constructor(client: DriverClient, options: SessionOptions) {
    this.#client = client;
    this.#options = options;
    // Without listeners, a connection that breaks while nothing runs would end the process.
    client.on('error', () => (this.#isOpen = false));
    client.on('end', () => (this.#isOpen = false));
  }

  /** Whether it may be used again. */
  get isUsable(): boolean {
    return this.#isOpen;
  }

  /** Runs a statement. An aborted one is cancelled at the server; the caller does not wait for that. */
  async run(text: string, values: readonly string[], during: AbortSignal): Promise<Row[]> {
    during.throwIfAborted();
    if (!this.#isOpen) throw closed();
    const name = values.length === 0 ? undefined : this.#nameOf(text);
    const pending = this.#client.query({ text, values: [...values], ...(name !== undefined && { name }) });
    this.#running = pending.catch(() => {});
    let stop = () => {};
    const aborted = new Promise<never>((_, reject) => {
      stop = onAbort(during, () => {
        this.#cancelling = this.#cancel();
        this.#cancelling.catch(() => {});
        reject(during.reason);
      });
    });
    try {
      return (await Promise.race([pending, aborted])).rows;
    } catch (error) {
      if (during.aborted || typeof (error as { code?: unknown }).code === 'string') throw error;
      throw closed(error);
    } finally {
      stop();
    }
  }

  /** Runs statements as one transaction. If `work` rejects, settle() undoes it. */
  async transaction<T>(work: () => Promise<T>, during: AbortSignal): Promise<T> {
    this.#inTransaction = true;
    await this.run('begin', [], during);
    const result = await work();
    // Whether it was committed must be known: this one statement is not cancelled.
    const patient = AbortSignal.timeout(longestCommitMs);
    await this.run('commit', [], patient).catch((error: unknown) => {
      throw patient.aborted ? closed(error) : error;
    });
    this.#inTransaction = false;
    return result;
  }

  /** Waits for the last statement, and undoes a transaction that has not ended. Afterwards the session is as new, or not usable. */
  async settle(): Promise<void> {
    const isInTime = await inTime(Promise.all([this.#running, this.#cancelling]));
    if (isInTime && !this.#inTransaction) return;
    const undone =
      isInTime && this.#isOpen && (await inTime(this.#client.query({ text: 'rollback', values: [] })));
    if (undone) this.#inTransaction = false;
    else this.cut();
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    if (!(await inTime(this.#client.end()))) this.cut();
  }

  /** Breaks the connection: what runs rejects. */
  cut(): void {
    this.#isOpen = false;
    this.#client.connection.stream.destroy();
  }

  #nameOf(text: string): string | undefined {
    if (!this.#options.prepares) return undefined;
    const known = this.#names.get(text);
    if (known !== undefined || this.#names.size >= mostPrepared) return known;
    const name = `${this.#id}-${this.#names.size}`;
    this.#names.set(text, name);
    return name;
  }

  /**
   * Asks the server to cancel what runs, over a connection of its own, as the protocol has it. Resolves when the server has taken it;
   * rejects if that is not certain.
   */
  #cancel(): Promise<void> {
    const { place, tls } = this.#options;
    const request = Buffer.alloc(16);
    for (const [index, value] of [16, cancelCode, this.#client.processID, this.#client.secretKey].entries())
      request.writeInt32BE(value | 0, 4 * index);
    return new Promise((resolve, reject) => {
      const socket = connectSocket(place.port, place.host, () => {
        if (tls === undefined) return void socket.end(request);
        socket.write(tlsRequest);
        socket.once('data', ([answer]) => {
          if (answer !== offersTls) return void socket.destroy();
          const secure = connectTls({ ...tls, socket }, () => secure.end(request));
          secure.on('error', reject);
        });
      });
      // The server closes the connection when it has sent the signal.
      socket.on('close', (hadError) => (hadError ? reject(closed()) : resolve()));
      socket.on('error', reject);
      socket.setTimeout(patienceMs, () => {
        reject(closed());
        socket.destroy();
      });
      socket.resume();
      socket.unref();
    });
  }
}

/** Message numbers of Postgres's protocol 3. */
const cancelCode = 80_877_102;
const tlsRequest = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);
const offersTls = 'S'.charCodeAt(0);

/** Whether work ends well in time. */
async function inTime(work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((done) => {
    timer = setTimeout(() => done(false), patienceMs);
  });
  const ended = work.then(
    () => true,
    () => false,
  );
  const result = await Promise.race([ended, late]);
  clearTimeout(timer);
  return result;
}

/** The driver's errors of connections that break have no code. */
const closed = (cause?: unknown) =>
  Object.assign(new Error('the connection broke', { cause }), { code: 'CONNECTION_CLOSED' });
