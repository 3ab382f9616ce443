import { ServerError } from '../protocol/errors.js';
import { ConnectionLostError } from './channel.js';

/** Errors that say that something is gone: SessionNotFound, SessionEnded, AgentNotFound, SpeechStreamNotFound. */
const goneCodes: ReadonlySet<number> = new Set([2001, 2002, 4007, 7001]);

/** Waits for something to be destroyed; that it is gone already, with its session or connection, is no error. */
export async function ended(destroying: Promise<void>): Promise<void> {
  try {
    await destroying;
  } catch (error) {
    const gone = error instanceof ServerError && goneCodes.has(error.code);
    if (!gone && !(error instanceof ConnectionLostError)) throw error;
  }
}
