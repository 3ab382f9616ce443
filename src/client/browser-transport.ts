import { ConnectionLostError } from './channel.js';
import type { Address, Transport, TransportListener } from './transport.js';

/** The part of a browser's WebSocket that is used. */
interface BrowserSocket {
  readonly readyState: number;
  send(data: string | Uint8Array): void;
  close(code?: number): void;
  addEventListener(type: 'message', listener: (event: { data: unknown }) => void): void;
  addEventListener(type: 'open' | 'close' | 'error', listener: () => void): void;
}

declare const WebSocket: new (url: string) => BrowserSocket;

const isOpen = 1;

/** Frames over the WebSocket of a browser: a text message is the JSON of a frame. */
class BrowserTransport implements Transport {
  readonly #socket: BrowserSocket;
  readonly closed: Promise<void>;
  /** Frames that wait for the WebSocket to open. */
  #waiting: (string | Uint8Array)[] = [];

  constructor(socket: BrowserSocket) {
    this.#socket = socket;
    this.closed = new Promise((resolve) => socket.addEventListener('close', () => resolve()));
    socket.addEventListener('open', () => {
      for (const data of this.#waiting.splice(0)) socket.send(data);
    });
  }

  listen(listener: TransportListener): void {
    this.#socket.addEventListener('message', ({ data }) => {
      try {
        listener.frame(String(data));
      } catch (error) {
        listener.lost('the server sent something that is not a frame', error);
        this.destroy();
      }
    });
    // Browsers do not say why.
    this.#socket.addEventListener('error', () => listener.lost('the connection failed'));
    this.#socket.addEventListener('close', () => listener.lost('the connection was closed'));
  }

  send(frame: object): void {
    const text = JSON.stringify(frame, (_, value) =>
      typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value,
    );
    this.#put(text);
  }

  sendBinary(payload: Uint8Array): void {
    this.#put(payload);
  }

  end(): void {
    this.#socket.close();
  }

  destroy(): void {
    this.#socket.close();
  }

  #put(data: string | Uint8Array): void {
    if (this.#socket.readyState === isOpen) this.#socket.send(data);
    else this.#waiting.push(data);
  }
}

/** Begins a connection. @throws ConnectionLostError for a port: pages have WebSockets alone; SyntaxError for an invalid URL */
export async function openTransport(address: Address): Promise<Transport> {
  if (!('url' in address))
    throw new ConnectionLostError('a page has no TCP: give `url`, such as "ws://127.0.0.1:9103/v1/socket"');
  return new BrowserTransport(new WebSocket(address.url));
}
