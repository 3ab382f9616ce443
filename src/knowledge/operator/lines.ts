import type { Socket } from 'node:net';
import { LorekeepError } from '../../../lib/internal.js';
import { parseWithWideIntegers, stringifyWithWideIntegers } from '../../base/schema/wide-integers.js';

/** Bytes of a request or a reply. */
const maxBytes = 128 * 2 ** 20;

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
      if (bytes > maxBytes) {
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
    socket.on('close', () => fail('the connection was closed'));
  });
}

export function writeLine(socket: Socket, value: unknown): void {
  socket.write(`${stringifyWithWideIntegers(value)}\n`);
}
