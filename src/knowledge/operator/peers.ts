import { connect } from 'node:net';
import { AnyLorekeepError } from '../../../lib/basics.js';
import { LorekeepError } from '../../../lib/internal.js';
import { lineOf, longestReply, longestRequest, readLine } from './lines.js';
import type { OperatorReplies, OperatorRequest } from './messages.js';
import { processOf, removeSocket, socketsOf, withShortName } from './socket-place.js';

/** A process that has a knowledge base open, and its socket. */
export interface Peer {
  socket: string;
  facts: OperatorReplies['hello'];
}

/** The processes that have a knowledge base open and listen to the operator. */
export interface Peers {
  peers: Peer[];
  /** Numbers of those that do not answer, such as stopped ones. */
  unreached: number[];
}

/** Longest time in which a process says what it is, in ms. One that computes says it between two steps. */
const helloMs = 10_000;

/** Returns the code of the system's error if a process could not be asked because it has ended. */
export function endedCode(error: unknown): string | undefined {
  const { code } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException;
  return ['ECONNREFUSED', 'ENOENT', 'ECONNRESET', 'EPIPE'].find((each) => each === code);
}

/** Finds the processes that have a knowledge base open. Sockets of ended processes are removed. */
export async function peersOf(records: string, longestMs: number = helloMs): Promise<Peers> {
  const peers: Peer[] = [];
  const unreached: number[] = [];
  const find = async (socket: string) => {
    const late = AbortSignal.timeout(longestMs);
    try {
      peers.push({ socket, facts: await ask(socket, { op: 'hello' }, late) });
    } catch (error) {
      const code = endedCode(error);
      if (late.aborted) unreached.push(processOf(socket));
      else if (code === undefined) throw error;
      else if (code === 'ECONNREFUSED') await removeSocket(socket);
    }
  };
  await Promise.all((await socketsOf(records)).map(find));
  return { peers, unreached };
}

/** Asks the process that may change a knowledge base alone to let others do so. One that does not answer stays as it is. */
export async function askToLetGo(
  records: string,
  holder: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const late = AbortSignal.any([AbortSignal.timeout(helloMs), ...(signal ? [signal] : [])]);
  for (const socket of await socketsOf(records)) {
    if (processOf(socket) === holder) await ask(socket, { op: 'release' }, late).catch(() => {});
  }
  signal?.throwIfAborted();
}

/** Asks a process. @throws errors of the knowledge base; INVALID_ARGUMENT for a request that is too long; IO if the process cannot be reached; the signal's reason */
export async function ask<Op extends OperatorRequest['op']>(
  socket: string,
  request: Extract<OperatorRequest, { op: Op }>,
  signal: AbortSignal | undefined,
): Promise<OperatorReplies[Op]> {
  const line = lineOf(request, longestRequest) ?? tooLong(socket);
  const reply = await withShortName(socket, async (name) => {
    const connection = connect({ path: name, allowHalfOpen: true });
    const stop = () => connection.destroy();
    signal?.addEventListener('abort', stop, { once: true });
    try {
      const answer = readLine(connection, longestReply);
      connection.write(line);
      return (await answer) as { result?: OperatorReplies[Op]; error?: ErrorReply };
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    } finally {
      signal?.removeEventListener('abort', stop);
      connection.destroy();
    }
  });
  if (reply.error !== undefined) {
    const { code, message, detail } = reply.error;
    throw new AnyLorekeepError(code, message, detail ?? {});
  }
  return reply.result as OperatorReplies[Op];
}

function tooLong(socket: string): never {
  const holder = processOf(socket);
  const problem = `the records take more than ${longestRequest / 2 ** 20} MiB as JSON, the most that process ${holder}, which has the knowledge base open, takes at once`;
  const message = `${problem}; send them in several batches, or end that process`;
  throw new LorekeepError('INVALID_ARGUMENT', message);
}

interface ErrorReply {
  code: ConstructorParameters<typeof AnyLorekeepError>[0];
  message: string;
  detail?: ConstructorParameters<typeof AnyLorekeepError>[2];
}
