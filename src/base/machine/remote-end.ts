import type { Socket } from 'node:net';

/** The remote end of a connection. */
export interface RemoteEnd {
  readonly address: string;
  readonly port: number;
}

/** Makes another end than the peer the remote end of a socket, for everybody who asks the socket. */
export function setRemoteEnd(socket: Socket, { address, port }: RemoteEnd): void {
  Object.defineProperty(socket, 'remoteAddress', { value: address, configurable: true });
  Object.defineProperty(socket, 'remotePort', { value: port, configurable: true });
}
