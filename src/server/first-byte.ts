import type { Socket } from 'node:net';

/** Longest wait for a first byte before the greeting, in ms: a program on this machine that speaks HTTP has sent its request by then. */
const waitMs = 5;

/** Longest time for a refused client to close, in ms. */
const farewellMs = 2000;

/** Whether the first byte begins an HTTP request: the kind of a frame is no letter. */
const beginsHttp = (byte: number | undefined) => byte !== undefined && byte >= 0x41 && byte <= 0x5a;

export interface FirstByteOptions {
  accept(): void;
  /** Whether a client that begins with these bytes is refused. */
  isRefused(bytes: Buffer): boolean;
  /** The text for a client that sends HTTP. */
  httpAnswer(): string;
}

/**
 * Waits for a client's first byte, for a few milliseconds at most, and accepts the client, unless the byte begins an HTTP
 * request: that is answered with an HTTP error.
 */
export function awaitFirstByte(socket: Socket, { accept, isRefused, httpAnswer }: FirstByteOptions): void {
  const ignoreError = () => {};
  let lastLook: NodeJS.Immediate | undefined;
  const stop = () => {
    clearTimeout(late);
    clearImmediate(lastLook);
    socket.off('readable', look);
    socket.off('close', stop);
  };
  const go = () => {
    stop();
    accept();
    socket.off('error', ignoreError);
    // A listener for 'readable' has stopped the flow.
    socket.resume();
  };
  const look = () => {
    const chunk = socket.read() as Buffer | null;
    if (chunk === null) return go();
    if (isRefused(chunk)) {
      socket.destroy();
    } else if (beginsHttp(chunk[0])) {
      stop();
      refuseHttp(socket, httpAnswer());
    } else {
      socket.unshift(chunk);
      go();
    }
  };
  const late = setTimeout(() => {
    // Where the loop was busy, the time is over before bytes that have arrived are read.
    lastLook = setImmediate(go);
  }, waitMs);
  socket.on('error', ignoreError);
  socket.once('close', stop);
  socket.once('readable', look);
}

function refuseHttp(socket: Socket, text: string): void {
  const body = `${text}\n`;
  const head = 'HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-type: text/plain; charset=utf-8\r\n';
  socket.end(`${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  // The rest of the request is dropped, so that the answer is not lost with it.
  socket.resume();
  const late = setTimeout(() => socket.destroy(), farewellMs);
  socket.once('close', () => clearTimeout(late));
}
