/** Pieces that are joined at once. */
const joinedPieces = 256;

/** Shorter pieces are joined: each takes some 300 bytes besides its content, and a client may send a body byte by byte. */
const shortPiece = 1024;

/** The bytes of a body that arrives in pieces. */
export class BodyBytes {
  readonly #parts: Buffer[] = [];
  #short: Buffer[] = [];
  length = 0;

  push(piece: Buffer): void {
    this.length += piece.length;
    if (piece.length >= shortPiece) this.#join();
    (piece.length < shortPiece ? this.#short : this.#parts).push(piece);
    if (this.#short.length === joinedPieces) this.#join();
  }

  whole(): Buffer {
    this.#join();
    return Buffer.concat(this.#parts);
  }

  #join(): void {
    if (this.#short.length === 0) return;
    this.#parts.push(Buffer.concat(this.#short));
    this.#short = [];
  }
}
