import { ForgottenTexts } from '../agents/forgotten-texts.js';
import type { Forgotten, QuotingHistory } from '../knowledge/index.js';
import type { Log } from '../log/log.js';

/** A session, as far as it may hold the texts of records. */
export interface ForgettingSession {
  /** The same object for all sessions of a client. */
  readonly client: object;
  /** Removes records with these texts from unfinished turns. Returns the histories that quote one. */
  forgetTexts(texts: ForgottenTexts, remove: boolean): Promise<QuotingHistory[]>;
}

/** Has everything in the server that may hold the text of a record lose it when the record is forgotten. */
export class Forgetting {
  readonly #log: Log;
  readonly #sessions = new Set<ForgettingSession>();
  readonly #others = new Set<(texts: ForgottenTexts) => Promise<void>>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** Returns a function that takes the session out again. */
  join(session: ForgettingSession): () => void {
    this.#sessions.add(session);
    return () => void this.#sessions.delete(session);
  }

  /** Also tells `drop`, which never rejects, once no turn adds the texts any more. */
  tell(drop: (texts: ForgottenTexts) => Promise<void>): void {
    this.#others.add(drop);
  }

  /**
   * Returns the histories that quote the texts: of all clients for the operator, else those of the `client` who has the records
   * forgotten. Only these are removed, if it asks for it.
   */
  async forget({ texts, histories }: Forgotten, client?: object): Promise<QuotingHistory[]> {
    const forgotten = await ForgottenTexts.of(texts);
    const found: QuotingHistory[] = [];
    const told: QuotingHistory[] = [];
    // Sessions that begin meanwhile have nothing of them.
    for (const session of [...this.#sessions]) {
      const isOwn = client === undefined || session.client === client;
      const quoting = await session.forgetTexts(forgotten, histories && isOwn);
      found.push(...quoting);
      if (isOwn) told.push(...quoting);
    }
    for (const drop of this.#others) await drop(forgotten);
    dropLatestMatch();
    if (found.length > 0) this.#log.info({ histories: found }, 'histories quote forgotten records');
    return told;
  }
}

/** V8 keeps the text that the latest regular expression was matched with. Matches another one. */
const dropLatestMatch = () => void /^/.test('');
