import { constants } from 'node:buffer';
import type { Socket } from 'node:net';
import { LorekeepError } from '../../../lib/internal.js';
import { parseWithWideIntegers, stringifyWithWideIntegers } from '../../base/schema/wide-integers.js';

/** Most bytes of a request. */
export const longestRequest: number = 128 * 2 ** 20;
/** Most bytes of a reply: what it says is done, so it is refused only beyond what can be read. */
export const longestReply: number = constants.MAX_STRING_LENGTH;

/** Reads the one line of a connection. `longest`: its most bytes. @throws IO */
export function readLine(socket: Socket, longest: number): Promise<unknown> {
  const parts: Buffer[] = [];
  let bytes = 0;
  return new Promise((resolve, reject) => {
    const fail = (reason: string, cause?: unknown) =>
      reject(new LorekeepError('IO', `the operator's socket: ${reason}`, {}, { cause }));
    socket.on('data', (part) => {
      parts.push(part as Buffer);
      bytes += part.length;
      if (bytes > longest) {
        fail('the message is too long');
        socket.destroy();
        return;
      }
      if (part.at(-1) !== 0x0a) return;
      const line = Buffer.concat(parts);
      try {
        resolve(parseWithWideIntegers(line.toString()));
      } catch (cause) {
        fail('the message is not JSON', cause);
      } finally {
        for (const bytes of [line, ...parts]) bytes.fill(0); // texts in it may be forgotten
      }
    });
    socket.on('error', (cause) => fail('the connection failed', cause));
    // A process that is killed ends the connection, which is then half open.
    const closed = Object.assign(new Error('closed'), { code: 'ECONNRESET' });
    for (const event of ['end', 'close']) socket.on(event, () => fail('the connection was closed', closed));
  });
}

/** Returns a message as bytes; undefined for one that is longer than `longest`. */
export function lineOf(value: unknown, longest: number): Buffer | undefined {
  try {
    const line = Buffer.from(`${stringifyWithWideIntegers(value)}\n`);
    return line.length > longest ? undefined : line;
  } catch (error) {
    // Longer than any string.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Writes a reply. @throws IO */
export function writeReply(socket: Socket, value: unknown): void {
  const line = lineOf(value, longestReply);
  if (line === undefined) throw new LorekeepError('IO', "the operator's socket: the message is too long");
  socket.write(line);
}
