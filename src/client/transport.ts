/** Where a server is: its TCP port, or the address of its WebSocket. */
export type Address = { readonly host: string; readonly port: number } | { readonly url: string };

/** An address for messages. */
export const shownAddress = (address: Address): string =>
  'url' in address ? address.url : `${address.host}:${address.port}`;

/** Receives what comes over a transport. */
export interface TransportListener {
  /** The JSON of a frame. @throws SyntaxError */
  frame(json: string): void;
  /** The transport cannot go on. */
  lost(message: string, cause?: unknown): void;
}

/** Frames in both directions. */
export interface Transport {
  /** To be called once, before anything is sent. */
  listen(listener: TransportListener): void;
  /** @throws FrameTooLarge */
  send(frame: object): void;
  /** Sends the payload of a binary frame. */
  sendBinary(payload: Uint8Array): void;
  /** Closes once pending output is written. */
  end(): void;
  /** Closes at once. */
  destroy(): void;
  /** Resolves when it is closed for any reason. */
  readonly closed: Promise<void>;
}
