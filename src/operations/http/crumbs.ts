import type { IncomingMessage } from 'node:http';

/** Pieces of a body after which they must be longer than this on average: each holds the event loop, however short it is. */
const fewPieces = 256;
const shortestPiece = 16;

/**
 * Ends the connection of a client that sends a body in pieces of some bytes. Node.js parses all that arrives at once in one step,
 * which for ten thousand chunks of a byte takes a tenth of a second. To be called before the first piece is parsed.
 */
export function refuseCrumbs(request: IncomingMessage): void {
  const push = request.push.bind(request);
  let pieces = 0;
  let bytes = 0;
  request.push = (piece: Buffer | null, encoding?: BufferEncoding) => {
    pieces++;
    bytes += piece?.length ?? 0;
    if (pieces <= fewPieces || bytes >= shortestPiece * pieces) return push(piece, encoding);
    request.socket.destroy();
    return false;
  };
}
