import { ServerError } from '../protocol/errors.js';
import type { Channel, TurnEvent } from './channel.js';
import { ended } from './ended.js';
import { rememberingTypes } from './frames.gen.js';
import type { ReplyTo, ServerFrames, SessionFields } from './frames.js';
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
  /** Versions of the storages: a time, or a version or time by the storage's name. Default: the newest. */
  asOf?: SessionFields<'TurnRequest'>['asOf'];
  /**
   * Answers an action `forget`: true forgets all its records, ids forget these, false none; `{ ids, histories: true }` also removes
   * the turns that quote them. Without it turn() forgets nothing, and
   * the loop over stream() answers the event TurnForget with confirmForget(). If it throws, nothing is forgotten and the turn
   * rejects with the error.
   */
  onForget?: ((proposal: ForgetProposal) => ForgetAnswer | Promise<ForgetAnswer>) | undefined;
}

/** Records that an action `forget` of an agent would remove from its memory. */
export type ForgetProposal = ServerFrames['TurnForget'];

/** Whether all records are forgotten, or the ids of those that are; or these, and whether turns that quote them are removed. */
export type ForgetAnswer =
  | boolean
  | readonly string[]
  | { readonly ids?: readonly string[] | undefined; readonly histories?: boolean | undefined };

/** The session of an agent: calls with the connection and the session's id on it. */
export interface AgentSession {
  use<T>(
    signal: AbortSignal | undefined,
    call: (channel: Channel, sessionId: string) => Promise<T>,
  ): Promise<T>;
  /** Histories of the session have lost turns. */
  noteRemovedTurns(): Promise<void>;
}

export type OpenedMemory = NonNullable<ServerFrames['CreateAgentResponse']['memories']>[number];

/** Returns the request that opens the memories again which it has made. */
function withSecrets(
  fields: SessionFields<'CreateAgentRequest'>,
  memories: readonly OpenedMemory[],
): SessionFields<'CreateAgentRequest'> {
  const secrets = new Map(
    memories.flatMap(({ node, secret }) => (secret === undefined ? [] : [[node, secret]])),
  );
  if (secrets.size === 0) return fields;
  const nodes = fields.graph.nodes.map((node) => {
    const secret = secrets.get(node.id);
    return secret === undefined ? node : { ...node, params: { ...node.params, secret } };
  });
  return { ...fields, graph: { ...fields.graph, nodes } as typeof fields.graph };
}

function confirmation(answer: ForgetAnswer): { confirm: boolean; ids?: string[]; histories?: boolean } {
  if (typeof answer === 'boolean') return { confirm: answer };
  const isList = (given: ForgetAnswer): given is readonly string[] => Array.isArray(given);
  const { ids, histories } = isList(answer) ? { ids: answer, histories: undefined } : answer;
  return {
    confirm: ids === undefined || ids.length > 0,
    ...(ids !== undefined && { ids: [...ids] }),
    ...(histories !== undefined && { histories }),
  };
}

/** An agent of a session. Its turns run one after the other. */
export class ClientAgent implements AsyncDisposable, Disposable {
  readonly #session: AgentSession;
  /** Undefined for an agent that was resumed. */
  readonly #fields: SessionFields<'CreateAgentRequest'> | undefined;
  readonly #forget: () => void;
  /** Kept for an agent with history whose lost connection is replaced. */
  readonly #turns: RememberedTurns | undefined;
  /** The memories of its `remember` nodes. Keep their secrets: they open the memories later. */
  readonly memories: readonly OpenedMemory[];
  #id: string;
  #kept: number | undefined;

  /** @internal Use ClientSession.createAgent(). */
  constructor(
    session: AgentSession,
    { agentId, memories = [], kept }: Pick<ReplyTo<'CreateAgentRequest'>, 'agentId' | 'memories' | 'kept'>,
    fields: SessionFields<'CreateAgentRequest'> | undefined,
    { forget, restores }: { forget: () => void; restores: boolean },
  ) {
    this.#session = session;
    this.#id = agentId;
    this.memories = memories;
    this.#kept = kept;
    this.#fields = fields && withSecrets(fields, memories);
    this.#forget = forget;
    const remembers = fields?.graph.nodes.some(({ type }) => rememberingTypes.includes(type));
    this.#turns = restores && remembers ? new RememberedTurns(fields?.history) : undefined;
  }

  /** In a session that is kept: its number among the kept agents, which stays the same. */
  get kept(): number | undefined {
    return this.#kept;
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
    return this.#turn(text, { onForget: () => false, ...options });
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

  /** Answers the event TurnForget of a turn that is streamed. */
  async confirmForget(
    { forgetId }: Pick<ForgetProposal, 'forgetId'>,
    answer: ForgetAnswer,
    { signal }: CallOptions = {},
  ): Promise<void> {
    const fields = confirmation(answer);
    await this.#session.use(signal, (channel, sessionId) =>
      channel.request('ConfirmForgetRequest', { sessionId, forgetId, ...fields }, signal),
    );
  }

  /** Returns the turns that the agent remembers, for the `history` of another agent. */
  async export({ signal }: CallOptions = {}): Promise<ServerFrames['ExportAgentResponse']['history']> {
    const exported = await this.#session.use(signal, (channel, sessionId) =>
      channel.request('ExportAgentRequest', { sessionId, agentId: this.#id }, signal),
    );
    return exported.history;
  }

  /** @internal Keeps, for another connection, the turns that the server has. */
  async noteRemovedTurns(): Promise<void> {
    this.#turns?.reset(await this.export());
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

  /**
   * @internal Restores the agent in a session of a new connection. `kept`: the ids of the kept agents of the session by number;
   * undefined for one that could not be opened.
   */
  async restore(
    channel: Channel,
    sessionId: string,
    kept: ReadonlyMap<number, string | undefined>,
  ): Promise<void> {
    const number = this.#kept;
    const reopened = number === undefined ? undefined : kept.get(number);
    if (reopened !== undefined) {
      this.#id = reopened;
      return;
    }
    const fields = this.#fields;
    if (fields === undefined)
      throw new ServerError(
        2015,
        'KeptSessionNotFound',
        'an agent that was resumed could not be opened again',
      );
    const isKept = number !== undefined && kept.has(number);
    const earlier = isKept
      ? { kept: number, history: undefined }
      : { history: this.#turns?.history ?? fields.history };
    const made = await channel.request('CreateAgentRequest', { sessionId, ...fields, ...earlier });
    this.#id = made.agentId;
    this.#kept = made.kept;
  }

  async #turn(
    text: string,
    { variables = {}, actionResult, hits, dryRun, asOf, onForget, signal }: TurnOptions,
    onEvent: (event: TurnEvent) => void = () => {},
  ): Promise<ServerFrames['TurnComplete']> {
    let failure: { error: unknown } | undefined;
    const answer = async (proposal: ForgetProposal) => {
      try {
        await this.confirmForget(proposal, (await onForget?.(proposal)) ?? false);
      } catch (error) {
        // It may have expired, or the turn may have been cancelled, meanwhile.
        if (error instanceof ServerError) return;
        failure ??= { error };
        await this.confirmForget(proposal, false).catch(() => {});
      }
    };
    const complete = await this.#session.use(signal, (channel, sessionId) =>
      channel.turn(
        { sessionId, agentId: this.#id, text, variables, actionResult, hits, dryRun, asOf },
        {
          onEvent: (event) => {
            onEvent(event);
            if (event.type === 'TurnForget' && onForget !== undefined) void answer(event);
          },
          signal,
        },
      ),
    );
    if (failure !== undefined) throw failure.error;
    if (dryRun !== true) this.#turns?.add(text, complete, actionResult);
    return complete;
  }
}
