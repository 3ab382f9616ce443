import { isIPv6 } from 'node:net';
import { onAbort } from '../../../lib/on-abort.js';
import { type Client, connect } from '../../client/index.js';
import { commandName } from '../../schema/shell-word.js';
import { CommandError } from '../failure.js';

/** A lorekeep server sends Hello at once. A program that is silent for this many milliseconds is another one. */
const greetingMs = 5000;

/** Connects to the server at an address. @throws CommandError that says what listens there instead; the signal's reason */
export async function reach(
  { host, port, accessToken }: { host: string; port: number; accessToken: string | undefined },
  signal: AbortSignal,
): Promise<Client> {
  const place = `${isIPv6(host) ? `[${host}]` : host}:${port}`;
  const giveUp = new AbortController();
  const stopListening = onAbort(signal, () => giveUp.abort(signal.reason));
  const late = setTimeout(() => {
    const silence = `${place}: no greeting within ${greetingMs / 1000} s`;
    giveUp.abort(
      new CommandError(
        'UNREACHABLE',
        `${silence}; is it a lorekeep server? --host and --port name another one`,
      ),
    );
  }, greetingMs);
  try {
    return await connect({ host, port, accessToken, signal: giveUp.signal });
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof CommandError) throw error;
    const { message } = error as Error;
    throw new CommandError(
      'UNREACHABLE',
      `${place}: ${message}; is the server running? ${commandName()} serve starts it`,
      { cause: error, detail: { host, port } },
    );
  } finally {
    clearTimeout(late);
    stopListening();
  }
}
