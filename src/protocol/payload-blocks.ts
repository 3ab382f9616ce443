/** Size of the first block: most payloads need no other. */
const firstBlockBytes = 64 * 1024;

const blockBytes = 256 * 1024;

/** Minimum length of a piece that is kept as it came. Shorter ones are copied: each would hold a whole read for a few bytes. */
const keptBytes = 32 * 1024;

/**
 * Blocks that were used before. V8 counts the bytes of new ones and collects garbage after some 10 MiB of them: clients that send long
 * frames would keep it busy.
 */
const spareBlocks: Buffer[] = [];

/** The most bytes that wait to be used again, for all clients. */
const maxSpareBytes = 8 * 1024 * 1024;

function giveBack(block: Buffer): void {
  if (block.length === blockBytes && (spareBlocks.length + 1) * blockBytes <= maxSpareBytes)
    spareBlocks.push(block);
}

/**
 * A payload that arrives in pieces. Keeps long pieces and copies short ones into blocks, so that a long payload is never copied
 * while it grows, and is joined in steps once it is complete.
 */
export class PayloadBlocks {
  readonly #length: number;
  readonly #blocks: Buffer[] = [];
  /** Used bytes of the last block. */
  #fill = 0;
  #bytes = 0;
  #heldBytes = 0;
  #whole: Buffer | undefined;
  #joined = 0;

  constructor(length: number) {
    this.#length = length;
  }

  /** Bytes that have arrived. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Bytes of blocks. The reads that kept pieces are part of are at most twice as long. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Adds a piece, which nobody may change afterwards. Precondition: it is part of the payload. */
  add(piece: Buffer): void {
    if (this.#isKept(piece)) {
      this.#blocks.push(piece);
      this.#fill = piece.length;
      this.#bytes += piece.length;
      this.#heldBytes += piece.length;
      return;
    }
    for (let rest = piece; rest.length > 0; ) {
      const copied = rest.copy(this.#lastBlock(), this.#fill);
      this.#fill += copied;
      this.#bytes += copied;
      rest = rest.subarray(copied);
    }
  }

  /** Returns a copy of up to `most` bytes. */
  beginning(most: number): Buffer {
    return Buffer.from((this.#blocks[0] ?? Buffer.alloc(0)).subarray(0, Math.min(most, this.#bytes)));
  }

  /** Joins the blocks. Returns undefined if `isDue()` comes first: call it again. Precondition: the payload is complete. */
  join(isDue: () => boolean): Buffer | undefined {
    const [only] = this.#blocks;
    if (only !== undefined && only.length === this.#length) return only;
    this.#whole ??= this.#allocate(this.#length);
    for (let block = this.#blocks.shift(); block !== undefined; block = this.#blocks.shift()) {
      this.#joined += block.copy(this.#whole, this.#joined);
      this.#heldBytes -= block.length;
      giveBack(block);
      if (this.#blocks.length > 0 && isDue()) return undefined;
    }
    return this.#whole;
  }

  /** Gives the blocks back. Nothing else may be called afterwards. */
  drop(): void {
    for (const block of this.#blocks.splice(0)) giveBack(block);
  }

  /** Whether a piece becomes a separate block. A block with room is filled first; blocks of that length are used again. */
  #isKept(piece: Buffer): boolean {
    const last = this.#blocks.at(-1);
    const isFull = last === undefined || this.#fill === last.length;
    return isFull && piece.length >= keptBytes && piece.length < blockBytes;
  }

  /** Returns a block with room. */
  #lastBlock(): Buffer {
    const last = this.#blocks.at(-1);
    if (last !== undefined && this.#fill < last.length) return last;
    const wanted = last === undefined ? firstBlockBytes : blockBytes;
    const block = this.#allocate(Math.min(wanted, this.#length - this.#bytes));
    this.#blocks.push(block);
    this.#fill = 0;
    return block;
  }

  #allocate(bytes: number): Buffer {
    this.#heldBytes += bytes;
    return (bytes === blockBytes && spareBlocks.pop()) || Buffer.allocUnsafeSlow(bytes);
  }
}
