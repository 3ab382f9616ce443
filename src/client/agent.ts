import type { ServerFrames } from '../protocol/frames.js';
import type { Channel } from './channel.js';
import type { CallOptions } from './client.js';

export interface TurnOptions extends CallOptions {
  /** Values for the templates of the agent's nodes. */
  variables?: Record<string, unknown> | undefined;
}

/** An agent of a session. Its turns run one after the other. */
export class ClientAgent {
  readonly #channel: Channel;
  readonly #sessionId: string;
  readonly id: string;

  constructor(channel: Channel, sessionId: string, id: string) {
    this.#channel = channel;
    this.#sessionId = sessionId;
    this.id = id;
  }

  /**
   * Takes a turn and resolves with its end; `status` says whether it completed, failed or was cancelled. Aborting
   * cancels the turn and rejects with the signal's reason.
   */
  turn(text: string, { variables = {}, signal }: TurnOptions = {}): Promise<ServerFrames['TurnComplete']> {
    const fields = { session_id: this.#sessionId, agent_id: this.id, text, variables };
    return this.#channel.turn(fields, signal);
  }

  /** Cancels its turns and lets go of the storages that it holds. */
  async destroy({ signal }: CallOptions = {}): Promise<void> {
    await this.#channel.request(
      'DestroyAgentRequest',
      { session_id: this.#sessionId, agent_id: this.id },
      signal,
    );
  }
}
