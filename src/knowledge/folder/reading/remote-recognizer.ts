import { UnreadableDocument } from '../../../documents/document.js';
import type { Recognizer, Scan } from '../../../documents/ocr/scan.js';
import type { ReadingReply, ReadingRequest } from './messages.js';

type Recognized = Extract<ReadingRequest, { kind: 'recognized' }>;

/** Has the scans of the reading thread read outside of it. */
export class RemoteRecognizer implements Recognizer {
  readonly #send: (reply: ReadingReply) => void;
  readonly #waiting = new Map<number, (result: Recognized) => void>();
  /** Copies of files that both threads see. */
  readonly #shared = new WeakMap<Uint8Array, Uint8Array>();
  #last = 0;

  constructor(send: (reply: ReadingReply) => void) {
    this.#send = send;
  }

  /** @throws UnreadableDocument */
  async recognize(scan: Scan): Promise<string[]> {
    const id = ++this.#last;
    const taken = new Promise<Recognized>((resolve) => this.#waiting.set(id, resolve));
    this.#send({ kind: 'scan', id, scan: { ...scan, bytes: this.#sharedCopy(scan.bytes) } });
    const result = await taken;
    if ('texts' in result) return result.texts;
    const { reason, missing } = result;
    throw new UnreadableDocument(reason, missing === undefined ? {} : { missing });
  }

  /** Takes the result of a scan. */
  take(result: Recognized): void {
    this.#waiting.get(result.id)?.(result);
    this.#waiting.delete(result.id);
  }

  #sharedCopy(bytes: Uint8Array): Uint8Array {
    const known = this.#shared.get(bytes);
    if (known !== undefined) return known;
    const copy = new Uint8Array(new SharedArrayBuffer(bytes.length));
    copy.set(bytes);
    this.#shared.set(bytes, copy);
    return copy;
  }
}
