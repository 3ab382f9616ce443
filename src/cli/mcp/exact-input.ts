import { randomUUID } from 'node:crypto';
import { Transform } from 'node:stream';
import { markWideIntegers } from '../../base/schema/wide-integers.js';
import { type Refusal, readMessage, refusal } from '../../doors/mcp/request.js';
import { ProtocolErrorCode } from '../../doors/mcp/sdk.js';

const newline = 0x0a;

/**
 * Keeps integers of 64 bits exact on their way through the SDK of MCP, which parses messages with JSON.parse: they pass as marked
 * texts, and restore() turns them back.
 */
export class ExactInput extends Transform {
  readonly #mark = randomUUID();
  readonly #longest: number;
  #parts: Buffer[] = [];
  #length = 0;
  /** Whether a message was marked. */
  #hasMarked = false;

  readonly #refuse: (refusal: Refusal) => void;

  /**
   * `longest`: of a message, in bytes. Longer ones pass as they come, and are refused behind it. `refuse` takes the answers to lines
   * that are no messages, which do not pass.
   */
  constructor(longest: number, refuse: (refusal: Refusal) => void) {
    super();
    this.#longest = longest;
    this.#refuse = refuse;
  }

  override _transform(chunk: Buffer, _encoding: string, done: () => void): void {
    let begin = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, begin)) {
      this.#parts.push(chunk.subarray(begin, end + 1));
      this.#pass();
      begin = end + 1;
    }
    if (begin < chunk.length) this.#parts.push(chunk.subarray(begin));
    this.#length += chunk.length - begin;
    if (this.#length > this.#longest) this.#pass();
    done();
  }

  override _flush(done: () => void): void {
    this.#pass();
    done();
  }

  /**
   * Returns a message with its integers: BigInts in the filter of a tool's arguments, and decimal texts in other arguments, which
   * metadata takes.
   */
  restore<Message>(message: Message): Message {
    if (!this.#hasMarked) return message;
    try {
      return this.#restored(message, []) as Message;
    } catch (error) {
      // Nested without end: the tool refuses it.
      if (error instanceof RangeError) return message;
      throw error;
    }
  }

  #pass(): void {
    const line = Buffer.concat(this.#parts);
    this.#parts = [];
    this.#length = 0;
    if (line.length === 0) return;
    if (line.length > this.#longest) {
      this.push(line);
      return;
    }
    const text = line.toString('utf8');
    if (text.trim() === '') return;
    const marked = markWideIntegers(text, this.#mark);
    if (marked !== undefined) this.#hasMarked = true;
    const read = readLine(marked ?? text);
    if (typeof read === 'string') this.push(read);
    else this.#refuse(read);
  }

  #restored(value: unknown, path: readonly string[]): unknown {
    if (typeof value === 'string') return value.startsWith(this.#mark) ? this.#integer(value, path) : value;
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((each) => this.#restored(each, path));
    const entries = Object.entries(value);
    return Object.fromEntries(entries.map(([key, each]) => [key, this.#restored(each, [...path, key])]));
  }

  #integer(text: string, [params, given, name]: readonly string[]): bigint | string | number {
    const digits = text.slice(this.#mark.length);
    if (params !== 'params' || given !== 'arguments') return Number(digits);
    return name === 'filter' ? BigInt(digits) : digits;
  }
}

/**
 * Returns a line as the SDK takes it, or the refusal of one that is no message: the SDK drops messages with further fields, or with
 * params that are null, without an answer.
 */
function readLine(line: string): string | Refusal {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return refusal(null, ProtocolErrorCode.ParseError, 'a line of stdin is not valid JSON');
  }
  const read = readMessage(value);
  if (read.refusal !== undefined) return read.refusal;
  const { params, ...rest } = read.message;
  const isSame = params !== null && Object.keys(read.message).length === Object.keys(value as object).length;
  if (isSame) return line;
  return `${JSON.stringify(params === null ? rest : read.message)}\n`;
}
