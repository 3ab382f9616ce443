import { createHash, randomBytes } from 'node:crypto';

/** Time in which a code must be used, in ms. */
export const codeValidMs = 120_000;

interface Waiting {
  readonly timer: NodeJS.Timeout;
  end(): void;
}

/**
 * The way of a browser into the page: a code that works once and for a short time, and that a file on this machine posts.
 * So no address, command line or log has a secret.
 */
export class PageEntry {
  /** By digest of the code. */
  readonly #codes = new Map<string, Waiting>();

  /** Makes a code. `onEnd` is called once: when it has been used, is too old, or the page closes. */
  create(onEnd: () => void): string {
    const code = randomBytes(32).toString('base64url');
    const key = digest(code);
    const end = () => {
      clearTimeout(timer);
      if (this.#codes.delete(key)) onEnd();
    };
    const timer = setTimeout(end, codeValidMs).unref();
    this.#codes.set(key, { timer, end });
    return code;
  }

  /** Uses a code up. Returns false for one that is unknown, used or too old. */
  redeem(code: string): boolean {
    const waiting = this.#codes.get(digest(code));
    waiting?.end();
    return waiting !== undefined;
  }

  close(): void {
    for (const { end } of [...this.#codes.values()]) end();
  }
}

/** A page that is open. */
export interface OpenPage {
  /** Address of the page. */
  readonly url: string;
  readonly entry: PageEntry;
}

/** Path of the address that takes codes. */
export const entryPath = '/page/enter';

/** Codes are found by digests, so that the time of the search tells nothing about them. */
const digest = (code: string) => createHash('sha256').update(code).digest('hex');
