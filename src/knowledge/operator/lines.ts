import type { Socket } from 'node:net';
import { LorekeepError } from '../../../lib/internal.js';
import { parseWithWideIntegers, stringifyWithWideIntegers } from '../../base/schema/wide-integers.js';

/** Bytes of a request or a reply. */
export const longestLine: number = 128 * 2 ** 20;

/** Reads the one line of a connection. @throws IO */
export function readLine(socket: Socket): Promise<unknown> {
  const parts: Buffer[] = [];
  let bytes = 0;
  return new Promise((resolve, reject) => {
    const fail = (reason: string, cause?: unknown) =>
      reject(new LorekeepError('IO', `the operator's socket: ${reason}`, {}, { cause }));
    socket.on('data', (part) => {
      parts.push(part as Buffer);
      bytes += part.length;
      if (bytes > longestLine) {
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

/** Returns a message as bytes; undefined for one that is too long. */
export function lineOf(value: unknown): Buffer | undefined {
  try {
    const line = Buffer.from(`${stringifyWithWideIntegers(value)}\n`);
    return line.length > longestLine ? undefined : line;
  } catch (error) {
    // Longer than any string.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** @throws IO */
export function writeLine(socket: Socket, value: unknown): void {
  const line = lineOf(value);
  if (line === undefined) throw new LorekeepError('IO', "the operator's socket: the message is too long");
  socket.write(line);
}
