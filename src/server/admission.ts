import type { Socket } from 'node:net';
import { releaseFreeMemory } from '../../lib/internal.js';
import { inMiB } from '../base/machine/mebibytes.js';
import type { ServerConfig } from '../config/schema.js';
import type { ClientMemory } from '../fairness/client-memory.js';
import { budgets } from '../fairness/default-budgets.js';
import { connectionBytes } from '../fairness/estimates.js';
import { MemoryRelease, startCollection } from '../fairness/memory-release.js';
import { ServerMemory } from '../fairness/server-memory.js';
import type { Log } from '../log/log.js';
import { encodeFrame } from '../protocol/encoder.js';
import type { ServerError } from '../protocol/errors.js';
import { toServerError } from '../storages/failure.js';
import { addressKey } from './access-gate.js';
import { Connection } from './connection.js';
import type { ConnectionLimits } from './connection-limits.js';
import type { ConnectionServices, ReportServices, Services } from './services.js';

/** Longest time for a refused client to close, in ms. */
const farewellMs = 2000;

/** Largest frame that tells a client why it is refused, in bytes. */
const longestFarewell = 65_536;

/** The budgets of the config, which the log names. */
export function serverMemory(config: ServerConfig, log: Log): ServerMemory {
  const limits = budgets(config);
  const { server, client } = limits;
  log.info(
    { all: inMiB(server.total), heap: inMiB(server.heap), each: inMiB(client.total) },
    'memory that clients may make the server hold',
  );
  const release = new MemoryRelease({ release: () => giveBack(log) });
  return new ServerMemory({
    ...limits,
    onMove: (bytes) => release.moved(bytes),
    waitMs: config.limits.memory_wait_ms,
    onExpel: ({ code, details }) =>
      log.warn({ code, ...details }, 'memory is full: the largest client is closed'),
  });
}

/** Longest time for an incremental collection and its finalizers, in ms. */
const collectionMs = 3000;

/** Returns free memory to the system. Most of the collection is incremental; its end pauses the event loop (docs/guides/operations.md). */
function giveBack(log: Log): void {
  const before = process.memoryUsage.rss();
  startCollection();
  later(() => {
    // Returns memory that finalizers freed, and pages that the first collection emptied.
    startCollection();
    later(async () => {
      await releaseFreeMemory();
      const after = process.memoryUsage.rss();
      log.debug(
        { before: inMiB(before), collected: inMiB(after) },
        'free memory is given back after a burst',
      );
    });
  });
}

function later(callback: () => void): void {
  setTimeout(callback, collectionMs).unref();
}

/** Memory of a client. */
export interface Place {
  readonly memory: ClientMemory;
  /** Gives it back. */
  release(): void;
}

/** Takes memory for a client, which `expel` ends. @throws ServerMemoryExceeded */
export function takeMemory(
  services: Pick<ConnectionServices, 'memory'>,
  expel: (reason: ServerError) => void,
): Place {
  const memory = services.memory.client(expel);
  const holding = memory.hold('connections');
  try {
    holding.add(connectionBytes, 'the connection was not accepted');
  } catch (error) {
    memory.close();
    throw error;
  }
  return {
    memory,
    release: () => {
      holding.release();
      memory.close();
    },
  };
}

/** Serves a client, if there is a slot and memory for it; otherwise sends the reason and closes the connection. */
export function admit(socket: Socket, services: Services, limits: ConnectionLimits): Connection | undefined {
  const shortage = services.descriptors.refusal(socket);
  if (shortage !== undefined) return turnAway(socket, shortage, services, 0);
  const address = socket.remoteAddress ?? '';
  const giveBack = services.slots.take(address);
  if (typeof giveBack !== 'function') return turnAway(socket, giveBack, services);
  socket.once('close', giveBack);
  let place: Place;
  try {
    place = takeMemory(services, (reason) => connection.expel(reason));
  } catch (error) {
    return turnAway(socket, toServerError(error), services);
  }
  const { gate } = services;
  const connection = new Connection(socket, services, {
    limits,
    memory: place.memory,
    gate: {
      get isClosed() {
        return gate.isClosed;
      },
      address: addressKey(address),
      admit: (secret) => gate.check(address, secret),
    },
  });
  void connection.closed.finally(place.release);
  return connection;
}

/** `waitMs`: how long the client may take to close. */
function turnAway(
  socket: Socket,
  { code, name, message, details }: ServerError,
  { log, observer }: Pick<ReportServices, 'log' | 'observer'>,
  waitMs = farewellMs,
): undefined {
  log.warn({ client: socket.remoteAddress, code }, 'a client was turned away');
  observer?.refused?.(code);
  socket.on('error', () => {});
  // Its data is not read, so that it costs nothing.
  socket.end(encodeFrame({ type: 'Error', reply_to: null, code, name, message, details }, longestFarewell));
  if (waitMs === 0) {
    socket.destroySoon();
    return;
  }
  socket.resume();
  const late = setTimeout(() => socket.destroy(), waitMs);
  socket.once('close', () => clearTimeout(late));
}
