import type { Account } from '../fairness/account.js';
import type { ServerFrame } from '../protocol/frames.js';
import type { Services } from './services.js';
import type { SessionTable } from './session-table.js';
import type { SpeechTable } from './speech/speech-table.js';
import type { ThrottleReports } from './throttle.js';
import type { VideoMemoryWish } from './video-memory.js';

/** The connection of a request, for its handler. */
export interface HandlerContext {
  /** Its address, for the log. */
  readonly client: string;
  readonly services: Services;
  readonly sessions: SessionTable;
  readonly throttle: ThrottleReports;
  readonly videoMemory: VideoMemoryWish;
  readonly account: Account;
  /** The client's streams of audio. */
  readonly speech: SpeechTable;
  /** Sends an event, or a reply that must go out before the handler returns. */
  send(frame: ServerFrame): void;
  /** Whether the client can answer the events of a turn. */
  readonly attended: boolean;
  /** Keeps the request's memory counted until the promise settles, even if it is answered before. */
  holdRequest(until: Promise<void>): void;
}
