import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { endWith } from './answers.js';

/** Most handshakes under TLS with clients without a slot. Further ones are ended untold. */
const mostHandshakes = 64;

/** Longest handshake with such a client, in ms. */
const handshakeMs = 2000;

/** Clients without a slot. Under TLS they can be told only after the handshake: before it, they take no HTTP. */
export class TurnedAway {
  /** By connection. */
  readonly #reasons = new Map<string, string>();

  /** Ends the connection with the reason. */
  static tell(socket: Duplex, reason: string): void {
    socket.on('error', () => {});
    endWith(socket, '503 Service Unavailable', reason, 'retry-after: 1\r\n');
    socket.resume();
  }

  /** Keeps the reason for tellAfterHandshake(). Returns whether the handshake may begin; otherwise the connection is ended. */
  await(socket: Socket, connection: string, reason: string): boolean {
    if (this.#reasons.size >= mostHandshakes) {
      socket.destroy();
      return false;
    }
    this.#reasons.set(connection, reason);
    const late = setTimeout(() => this.#reasons.has(connection) && socket.destroy(), handshakeMs);
    socket.once('close', () => {
      clearTimeout(late);
      this.#reasons.delete(connection);
    });
    return true;
  }

  /** Returns whether the client of the connection was one without a slot: it is told, and the connection ends. */
  tellAfterHandshake(socket: Duplex, connection: string): boolean {
    const reason = this.#reasons.get(connection);
    if (reason === undefined) return false;
    TurnedAway.tell(socket, reason);
    return true;
  }
}
