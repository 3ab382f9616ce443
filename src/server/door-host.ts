import type { Socket } from 'node:net';
import type { DoorHost, FrameSocket, PageSource } from '../doors/host.js';
import { ServerError } from '../protocol/errors.js';
import { addressKey } from './access-gate.js';
import { takeMemory } from './admission.js';
import { connectionLimits } from './compose.js';
import { Connection } from './connection.js';
import type { ConnectionLimits } from './connection-limits.js';
import { ServedDoorClient } from './door-client.js';
import type { Services } from './services.js';
import type { ClientGate } from './session-table.js';

interface DoorHostOptions {
  readonly limits?: Partial<ConnectionLimits> | undefined;
  readonly page?: PageSource | undefined;
}

/** Shows the server to its doors. `connections`: of clients that send frames. */
export function doorHost(
  services: Services,
  connections: Set<Connection>,
  { limits = {}, page }: DoorHostOptions = {},
): DoorHost {
  const { config, log, version, catalog, models, rerankers, activity, gate, slots, descriptors } = services;
  const gateFor = (address: string): ClientGate => ({
    get isClosed() {
      return gate.closesDoors;
    },
    address: addressKey(address),
    admit: (secret) => gate.admit(address, secret),
  });
  return {
    config,
    log,
    version,
    catalog,
    models,
    rerankers,
    get isStopping() {
      return activity.stopping;
    },
    get isClosed() {
      return gate.closesDoors;
    },
    admit: (address, secret) => gate.admit(address, secret),
    issuePass: (grant) => gate.issuePass(grant),
    page,
    whenForgotten: (drop) => services.forgetting.tell(drop),
    proxies: services.proxies,
    takeSlot: (socket: Socket) => {
      const slot = descriptors.refusal(socket) ?? slots.take(socket.remoteAddress ?? '');
      if (slot instanceof ServerError) throw slot;
      return slot;
    },
    connect: (address, name, output) => {
      const place = takeMemory(services, (reason) => output.expel(reason));
      return new ServedDoorClient(services, place, name, gateFor(address), output);
    },
    serveFrames: (socket: FrameSocket, address) => {
      const place = takeMemory(services, (reason) => connection.expel(reason));
      const connection = new Connection(socket, services, {
        limits: { ...connectionLimits(config), ...limits },
        memory: place.memory,
        gate: gateFor(address),
        declared: services.declared,
      });
      connections.add(connection);
      void connection.closed.finally(() => {
        connections.delete(connection);
        place.release();
      });
    },
  };
}
