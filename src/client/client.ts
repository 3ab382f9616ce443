import { connect as openSocket, type Socket } from 'node:net';
import { protocolVersion, type RequestFields, type ServerFrames, serverSchemas } from '../protocol/frames.js';
import { Channel } from './channel.js';
import { ConnectionLostError } from './connection-lost-error.js';
import { ClientSession } from './session.js';

export interface CallOptions {
  signal?: AbortSignal | undefined;
}

export interface ConnectOptions extends CallOptions {
  /** Default 127.0.0.1. */
  host?: string | undefined;
  /** Default 9100. */
  port?: number | undefined;
}

/** A connection to a server. Its sessions live as long as it does. */
export class Client implements AsyncDisposable {
  readonly #channel: Channel;
  /** Who answered: protocol and version. */
  readonly hello: ServerFrames['Hello'];

  private constructor(channel: Channel, hello: ServerFrames['Hello']) {
    this.#channel = channel;
    this.hello = hello;
  }

  /** @throws ConnectionLostError when nothing, or something else than lorekeep, answers; the signal's reason. */
  static async connect({ host = '127.0.0.1', port = 9100, signal }: ConnectOptions = {}): Promise<Client> {
    const socket = openSocket({ host, port, noDelay: true, signal });
    const channel = new Channel(socket);
    try {
      const hello = serverSchemas.Hello.safeParse(await channel.hello);
      if (hello.success) return new Client(channel, hello.data);
    } catch (error) {
      socket.destroy();
      signal?.throwIfAborted();
      throw error;
    }
    return refuse(socket, `${host}:${port} does not speak protocol ${protocolVersion} of lorekeep`);
  }

  /** Resolves when the connection is gone, for whatever reason. */
  get closed(): Promise<void> {
    return this.#channel.closed;
  }

  async createSession(
    fields: RequestFields['CreateSessionRequest'] = {},
    { signal }: CallOptions = {},
  ): Promise<ClientSession> {
    const { session_id } = await this.#channel.request('CreateSessionRequest', fields, signal);
    return new ClientSession(this.#channel, session_id);
  }

  async ping({ signal }: CallOptions = {}): Promise<void> {
    await this.#channel.request('Ping', {}, signal);
  }

  /** Ends every session and the connection. Twice is fine. */
  close(): Promise<void> {
    return this.#channel.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

function refuse(socket: Socket, message: string): never {
  socket.destroy();
  throw new ConnectionLostError(message);
}

/** Connects to a server and waits for its greeting. */
export function connect(options?: ConnectOptions): Promise<Client> {
  return Client.connect(options);
}
