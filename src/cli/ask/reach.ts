import { isIPv6 } from 'node:net';
import { onAbort } from '../../../lib/basics.js';
import { commandName } from '../../base/schema/shell-word.js';
import { type Client, connect } from '../../client/index.js';
import { CommandError } from '../failure.js';
import { findConfig } from '../server-config.js';
import { findAccessToken } from './access-token.js';

/** A lorekeep server sends Hello at once. A program that is silent for this many milliseconds is another one. */
const greetingMs = 5000;

/** The flags that name a server. */
export interface ServerFlags {
  host?: string;
  port?: number;
  accessTokenFile?: string;
}

/** An address, for people. */
export const addressOf = (host: string, port: number): string =>
  `${isIPv6(host) ? `[${host}]` : host}:${port}`;

/** Connects to the server of the flags. @throws CommandError that says what listens there instead; the signal's reason */
export async function reach(flags: ServerFlags, signal: AbortSignal): Promise<Client> {
  const { host = '127.0.0.1' } = flags;
  const port = flags.port ?? (await findConfig(undefined)).config.port;
  const accessToken = await findAccessToken(flags.accessTokenFile, host);
  const place = addressOf(host, port);
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
