import type { Channel, TurnEvent } from './channel.js';
import { ended } from './ended.js';
import { rememberingTypes } from './frames.gen.js';
import type { ServerFrames, SessionFields } from './frames.js';
import type { CallOptions } from './link.js';
import { RememberedTurns } from './remembered-turns.js';
import { streamTurn } from './turn-stream.js';

export interface TurnOptions extends CallOptions {
  /** Values for the templates of the agent's nodes. */
  variables?: Record<string, unknown> | undefined;
  /** Result of the action that the turn before asked for. */
  actionResult?: unknown;
  /** TurnComplete has the hits of all `retrieve` nodes, not only of nodes with `emit`. Default false. */
  hits?: boolean | undefined;
  /** Report the prompts of `generate` nodes instead of generating. */
  dryRun?: boolean | undefined;
}

/** The session of an agent: calls with the connection and the session's id on it. */
export interface AgentSession {
  use<T>(
    signal: AbortSignal | undefined,
    call: (channel: Channel, sessionId: string) => Promise<T>,
  ): Promise<T>;
}

/** An agent of a session. Its turns run one after the other. */
export class ClientAgent implements AsyncDisposable, Disposable {
  readonly #session: AgentSession;
  readonly #fields: SessionFields<'CreateAgentRequest'>;
  readonly #forget: () => void;
  /** Kept for an agent with history whose lost connection is replaced. */
  readonly #turns: RememberedTurns | undefined;
  #id: string;

  /** @internal Use ClientSession.createAgent(). */
  constructor(
    session: AgentSession,
    id: string,
    fields: SessionFields<'CreateAgentRequest'>,
    { forget, restores }: { forget: () => void; restores: boolean },
  ) {
    this.#session = session;
    this.#id = id;
    this.#fields = fields;
    this.#forget = forget;
    const remembers = fields.graph.nodes.some(({ type }) => rememberingTypes.includes(type));
    this.#turns = restores && remembers ? new RememberedTurns(fields.history) : undefined;
  }

  /** Changes when the connection is replaced. */
  get id(): string {
    return this.#id;
  }

  /**
   * Runs a turn and resolves at its end; `status` says whether it completed, failed or was cancelled. Aborting cancels
   * the turn and rejects with the signal's reason.
   */
  turn(text: string, options: TurnOptions = {}): Promise<ServerFrames['TurnComplete']> {
    return this.#turn(text, options);
  }

  /**
   * Runs a turn and yields its events: TurnStarted, a TurnText per piece of the reply, and finally TurnComplete. Leaving the
   * loop early cancels the turn; so does aborting, which throws the signal's reason.
   */
  stream(
    text: string,
    options: TurnOptions = {},
  ): AsyncGenerator<TurnEvent | ServerFrames['TurnComplete'], void, undefined> {
    return streamTurn(options.signal, (signal, onEvent) => this.#turn(text, { ...options, signal }, onEvent));
  }

  /** Returns the turns that the agent remembers, for the `history` of another agent. */
  async export({ signal }: CallOptions = {}): Promise<ServerFrames['ExportAgentResponse']['history']> {
    const exported = await this.#session.use(signal, (channel, sessionId) =>
      channel.request('ExportAgentRequest', { sessionId, agentId: this.#id }, signal),
    );
    return exported.history;
  }

  /** Cancels the agent's turns and releases its storages. */
  async destroy({ signal }: CallOptions = {}): Promise<void> {
    await this.#session.use(signal, (channel, sessionId) =>
      channel.request('DestroyAgentRequest', { sessionId, agentId: this.#id }, signal),
    );
    this.#forget();
  }

  /** Like destroy(), but an agent that is gone already is no error. */
  async [Symbol.asyncDispose](): Promise<void> {
    await ended(this.destroy());
  }

  /** For `using`: destroys the agent without waiting for it. */
  [Symbol.dispose](): void {
    this.destroy().catch(() => {});
  }

  /** @internal Restores the agent in a session of a new connection. */
  async restore(channel: Channel, sessionId: string): Promise<void> {
    const history = this.#turns?.history ?? this.#fields.history;
    this.#id = (await channel.request('CreateAgentRequest', { sessionId, ...this.#fields, history })).agentId;
  }

  async #turn(
    text: string,
    { variables = {}, actionResult, hits, dryRun, signal }: TurnOptions,
    onEvent?: (event: TurnEvent) => void,
  ): Promise<ServerFrames['TurnComplete']> {
    const complete = await this.#session.use(signal, (channel, sessionId) =>
      channel.turn(
        { sessionId, agentId: this.#id, text, variables, actionResult, hits, dryRun },
        { onEvent, signal },
      ),
    );
    if (dryRun !== true) this.#turns?.add(text, complete, actionResult);
    return complete;
  }
}
