import { onAbort } from '../../lib/basics.js';
import type { AskToForget, ForgetConfirmation } from '../agents/ask-to-forget.js';
import { fail } from '../protocol/errors.js';
import type { ServerFrame } from '../protocol/frames.js';

/** What a client says about the records of a TurnForget. `ids`: those that may be forgotten; undefined: all. */
export interface ConfirmedRecords {
  readonly ids: readonly string[] | undefined;
  readonly histories: boolean;
}

/** The actions of one session's turns that wait for the client to confirm that records are forgotten. */
export class ForgetRequests {
  readonly #waiting = new Map<
    string,
    { readonly ids: readonly string[]; settle(answer: ForgetConfirmation): void }
  >();

  /** Returns how a turn asks its client. */
  of(turnId: string, send: (frame: ServerFrame) => void): AskToForget {
    let asked = 0;
    return ({ node, storage, records, confirmMs }, signal) =>
      new Promise((resolve, reject) => {
        signal.throwIfAborted();
        const forget_id = `${turnId}.f${++asked}`;
        const end = () => {
          clearTimeout(expiry);
          stopListening();
          this.#waiting.delete(forget_id);
        };
        const expiry = setTimeout(() => {
          end();
          resolve('expired');
        }, confirmMs);
        const stopListening = onAbort(signal, () => {
          end();
          reject(signal.reason);
        });
        this.#waiting.set(forget_id, {
          ids: records.map(({ id }) => id),
          settle: (answer) => {
            end();
            resolve(answer);
          },
        });
        const facts = { turn_id: turnId, forget_id, node, storage };
        send({ type: 'TurnForget', ...facts, records: [...records], expires_in_ms: confirmMs });
      });
  }

  /** Answers one. @throws ForgetNotPending, InvalidField */
  answer(forgetId: string, confirm: boolean, { ids, histories }: ConfirmedRecords): void {
    const waiting = this.#waiting.get(forgetId);
    if (waiting === undefined) {
      const shown = JSON.stringify(forgetId.slice(0, 64));
      fail(4020, `forget_id: nothing waits for ${shown}; it may have expired`, { path: 'forget_id' });
    }
    const other = ids?.findIndex((id) => !waiting.ids.includes(id)) ?? -1;
    if (other >= 0) {
      const path = `ids[${other}]`;
      fail(1004, `${path}: the TurnForget has no record of this id`, { path });
    }
    waiting.settle({ ids: confirm ? (ids ?? waiting.ids) : [], histories });
  }
}
