import { chmod } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { AnyLorekeepError } from '../../../lib/basics.js';
import type { KnowledgeBase } from '../knowledge-base.js';
import type { KnowledgeLog } from '../log.js';
import { longestRequest, readLine, writeReply } from './lines.js';
import type { OperatorReplies, OperatorRequest, QuotingHistory } from './messages.js';
import { newSocket, removeSocket, withShortName } from './socket-place.js';

/** Records that were forgotten, as everything that may hold their texts is told. */
export interface Forgotten {
  ids: readonly string[];
  texts: readonly string[];
  /** Whether turns that quote them are removed from histories. */
  histories: boolean;
}

/** Is told of forgotten records, and returns the histories that quote them. */
export type OnForgotten = (forgotten: Forgotten) => Promise<QuotingHistory[]>;

/** Time in which a request must have arrived, in ms. */
const arrivalMs = 30_000;
/** Further ones are closed at once. Each is a command of the owner, such as a script that runs many at once. */
const mostConnections = 1000;

/** The socket of an open knowledge base, by which the operator changes it while it is used. Only the owner of its folder can connect. */
export class OperatorSocket {
  readonly #server: Server;
  readonly #path: string;
  readonly #kb: KnowledgeBase;
  readonly #onForgotten: OnForgotten;
  readonly #connections = new Set<Socket>();

  private constructor(server: Server, path: string, kb: KnowledgeBase, onForgotten: OnForgotten) {
    this.#server = server;
    this.#path = path;
    this.#kb = kb;
    this.#onForgotten = onForgotten;
  }

  /** Listens beside a records file. Without a right to write there, there is no socket, and the log says so. */
  static async open(
    records: string,
    kb: KnowledgeBase,
    log: KnowledgeLog,
    onForgotten: OnForgotten = async () => [],
  ): Promise<OperatorSocket | undefined> {
    if (process.platform === 'win32') return undefined;
    try {
      const path = newSocket(records);
      const server = createServer({ allowHalfOpen: true });
      server.maxConnections = mostConnections;
      const opened = new OperatorSocket(server, path, kb, onForgotten);
      server.on('connection', (socket) => void opened.#serve(socket));
      await withShortName(
        path,
        (name) =>
          new Promise<void>((resolve, reject) => {
            server.once('error', reject);
            server.listen(name, resolve);
          }),
      );
      server.removeAllListeners('error');
      server.on('error', () => {});
      server.unref();
      await chmod(path, 0o600);
      return opened;
    } catch (err) {
      log.info(
        { err, file: records },
        'no socket for the operator: commands cannot change it through this process',
      );
      return undefined;
    }
  }

  async close(): Promise<void> {
    await removeSocket(this.#path);
    for (const socket of this.#connections) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  async #serve(socket: Socket): Promise<void> {
    this.#connections.add(socket);
    socket.on('close', () => this.#connections.delete(socket));
    socket.on('error', () => {});
    // A command sends nothing after its request, and leaves without the reply only if it is interrupted or killed.
    const gone = new AbortController();
    for (const event of ['end', 'close'] as const) socket.once(event, () => gone.abort());
    const late = setTimeout(() => socket.destroy(), arrivalMs).unref();
    try {
      const request = (await readLine(socket, longestRequest)) as OperatorRequest;
      clearTimeout(late);
      writeReply(socket, { result: await this.#answer(request, gone.signal) });
    } catch (error) {
      writeReply(socket, { error: errorFacts(error) });
    } finally {
      clearTimeout(late);
      socket.end();
    }
  }

  /** `gone`: aborted when the command has left. A forgetting goes on without it. */
  async #answer(
    request: OperatorRequest,
    gone: AbortSignal,
  ): Promise<OperatorReplies[OperatorRequest['op']]> {
    const { changes } = this.#kb;
    if (request.op === 'hello')
      return { pid: process.pid, isWriter: changes.isWriter, readOnly: changes.readOnly };
    if (request.op === 'drop') {
      await changes.drop(request.ids);
      return { histories: await this.#onForgotten(request) };
    }
    if (request.op === 'release') {
      await changes.letGo();
      return {};
    }
    const wasWriter = changes.isWriter;
    try {
      if (request.op === 'update') {
        return await this.#kb.update(request.changes, { signal: gone });
      }
      return await this.#forget(request);
    } finally {
      if (!wasWriter) await changes.letGo();
    }
  }

  async #forget({ ids, verify, histories }: Extract<OperatorRequest, { op: 'forget' }>) {
    const { filesWith, texts, ...result } = await this.#kb.forget(ids);
    const quoting = await this.#onForgotten({ ids, texts, histories });
    const found = verify ? { filesWith: await filesWith() } : {};
    return { ...result, texts, histories: quoting, ...found };
  }
}

function errorFacts(error: unknown): object {
  if (!(error instanceof AnyLorekeepError)) return { code: 'INTERNAL', message: String(error) };
  return { code: error.code, message: error.message, detail: error.detail };
}
