import { nextSlice } from '../base/waiting/next-slice.js';
import { untilAborted } from '../base/waiting/until-aborted.js';
import type { Sending } from '../fairness/account.js';
import type { Log } from '../log/log.js';
import type { TurnAsOf } from '../protocol/as-of.js';
import type { DryRun } from '../protocol/engine.js';
import type { NodeDiagnostics, ServerFrames, TurnDiagnostics } from '../protocol/frames.js';
import { milliseconds } from '../protocol/milliseconds.js';
import type { SpeechTimes } from '../protocol/speech-frames.js';
import { errorFields, isDefect, toServerError } from '../storages/failure.js';
import type { AskToForget } from './ask-to-forget.js';
import { EngineReports } from './engine-reports.js';
import type { Flow } from './flow.js';
import type { ForgottenTexts } from './forgotten-texts.js';
import type { AgentHistory, HistoryKeeper } from './history.js';
import { Interaction } from './interaction.js';
import type { AgentNode, NodeOutcome } from './node.js';
import type { TurnFacts, TurnFailure, TurnObserver } from './turn-facts.js';
import { hitsOf, withHits } from './turn-hits.js';
import { sourcesOf } from './turn-sources.js';

/** Input of a turn, from the client. */
export interface TurnInput {
  text: string;
  variables: Readonly<Record<string, unknown>>;
  /** Result of the action of the previous turn. */
  actionResult?: unknown;
  /** TurnComplete has the hits of all nodes. */
  hits?: boolean | undefined;
  /** Nodes that generate only report their prompt. */
  dryRun?: boolean | undefined;
  /** Versions of the storages that retrieve nodes search. */
  asOf?: TurnAsOf | undefined;
  /** Times before a turn that was spoken. */
  speech?: SpeechTimes | undefined;
}

/** Options of an agent's turns. */
export interface AgentOptions {
  /** Requested by the client; the other options are the operator's. */
  enableDiagnostics: boolean;
  /** Whether diagnostics include the components. */
  includeInteraction: boolean;
  /** Whether debug_info includes the engine's diagnostics. */
  includeEngine: boolean;
  /** Maximum number of bytes that the components of one turn may take together. */
  largestInteraction: number;
  /** Receives the facts of every finished turn. */
  observe?: TurnObserver | undefined;
  /** Keeps the history where it outlives the server. */
  keeper?: HistoryKeeper | undefined;
  /** The client's name, for these facts. */
  client?: string | undefined;
}

interface TurnOptions extends TurnInput, AgentOptions {
  /** Id of the agent. */
  agent: string;
  /** The agent's history when the turn starts. */
  history: AgentHistory;
}

/** Where a turn's frames go. */
export interface TurnOutlet {
  send(frame: ServerFrames['TurnText' | 'TurnComplete']): void;
  /** Asks the client whether records may be forgotten; absent: nobody can answer. */
  readonly askToForget?: AskToForget | undefined;
  /** As Account.send(). */
  maySend(signal: AbortSignal): Promise<Sending>;
}

/** Why the steps of a cancelled turn end: one for all, because an error records its stack, which takes time. */
const cancelled = new Error('the turn was cancelled');

/** One exchange with an agent, from its request to its TurnComplete. */
export class Turn {
  readonly id: string;
  readonly #options: TurnOptions;
  readonly #interaction: Interaction;
  readonly #history: AgentHistory;
  readonly #log: Log;
  readonly #cancelling = new AbortController();
  readonly #created = performance.now();
  #sending: Sending | undefined;
  #isWithdrawn = false;
  /** Whether a model reads what was found. */
  #isReplying = false;
  readonly #ran: NodeDiagnostics[] = [];
  /** The node that runs, or that failed. */
  #running: Pick<AgentNode, 'id' | 'type'> | undefined;
  readonly #skipped: string[] = [];
  readonly #engines = new EngineReports();

  constructor(id: string, options: TurnOptions, outlet: TurnOutlet, log: Log) {
    this.id = id;
    this.#options = options;
    const { text, variables, largestInteraction, history, actionResult, dryRun, asOf } = options;
    this.#history = history;
    this.#interaction = new Interaction(text, variables, {
      onText: (piece) => outlet.send({ type: 'TurnText', turn_id: id, ...piece }),
      limit: largestInteraction,
      reserve: async (bytes, signal) => this.#sending?.reserve(bytes, signal),
      history,
      actionResult,
      dryRun,
      asOf,
      turnId: id,
      askToForget: outlet.askToForget,
    });
    this.#log = log.child({ turn: id });
  }

  get signal(): AbortSignal {
    return this.#cancelling.signal;
  }

  /** Whether cancel() or withdraw() was called. */
  get isCancelled(): boolean {
    return this.#isWithdrawn;
  }

  /** It will be cancelled: until then, it does not begin. */
  withdraw(): void {
    this.#isWithdrawn = true;
  }

  /** Ends the turn once its current step notices; its TurnComplete has the status "cancelled". */
  cancel(): void {
    this.#isWithdrawn = true;
    this.#cancelling.abort(cancelled);
  }

  /**
   * Removes records with these texts from what the turn has found. A turn that quotes one already is cancelled, and so is one whose next
   * reply may be based on one: its prompt may have the text. `unquote`: the turn is not remembered if it quotes one.
   */
  async forget(texts: ForgottenTexts, unquote: boolean): Promise<void> {
    const some = await this.#interaction.forget(texts, unquote);
    if (this.isForgetting) return;
    const { replyText: reply, action } = this.#interaction;
    if ((some && this.#isReplying) || (await texts.quotedByJsonOf({ reply, action }))) this.cancel();
  }

  /** Whether the turn itself has records forgotten. Its reply is complete, and it waits for all other turns. */
  get isForgetting(): boolean {
    return this.#interaction.isForgetting;
  }

  /** Waits for `ready`, runs the due nodes and returns the TurnComplete. Never rejects. */
  async run(
    ready: Promise<Sending>,
    nodes: readonly AgentNode[],
    flow: Flow,
  ): Promise<ServerFrames['TurnComplete']> {
    let started: number | undefined;
    let outcome: Pick<ServerFrames['TurnComplete'], 'status' | 'error'>;
    try {
      this.#sending = await ready;
      if (this.#isWithdrawn) await untilAborted(new Promise(() => {}), this.signal);
      started = performance.now();
      this.#history.checkResult(this.#options.actionResult);
      await this.#runNodes(nodes, flow);
      outcome = { status: 'completed' };
    } catch (error) {
      outcome = this.signal.aborted
        ? { status: 'cancelled' }
        : { status: 'failed', error: this.#failure(error) };
    }
    await this.#interaction.end();
    await this.#remember(outcome.status);
    return this.#withHits(this.#complete(outcome, started));
  }

  /** Adds the hits that the client asked for, in the turn or in params. */
  async #withHits(complete: ServerFrames['TurnComplete']): Promise<ServerFrames['TurnComplete']> {
    const { hits: all = false, largestInteraction } = this.#options;
    const { emitting, components } = this.#interaction;
    if (!all && emitting.size === 0) return complete;
    const hits = hitsOf(components, (node) => all || emitting.has(node));
    return withHits(complete, hits, largestInteraction);
  }

  /** A cancelled turn is remembered with the reply so far: the client has it. A failed one and a dry run are not. */
  async #remember(status: ServerFrames['TurnComplete']['status']): Promise<void> {
    const { text, replyText: reply, action, dryRun, actionResult } = this.#interaction;
    if (dryRun || status === 'failed' || (status === 'cancelled' && reply === '')) return;
    const turn = {
      text,
      reply,
      ...(status === 'cancelled' && { interrupted: true }),
      ...(action && { action: { name: action.name, arguments: action.arguments } }),
      ...(actionResult !== undefined && { action_result: actionResult }),
    };
    if (!(await this.#interaction.isUnquoted(turn))) this.#history.add(this.id, turn);
  }

  async #runNodes(nodes: readonly AgentNode[], flow: Flow): Promise<void> {
    const walk = flow.walk();
    for (const node of nodes) {
      this.signal.throwIfAborted();
      if (!walk.isDue(node.id)) {
        this.#skipped.push(node.id);
        continue;
      }
      await nextSlice();
      this.signal.throwIfAborted();
      const { jump } = await this.#runNode(node);
      walk.hasRun(node.id, jump);
    }
  }

  async #runNode(node: AgentNode): Promise<NodeOutcome> {
    this.#running = node;
    const started = performance.now();
    this.#isReplying = node.type === 'generate' || node.type === 'rerank';
    const outcome = await node.run(this.#interaction, this.signal);
    await this.#interaction.dropForgotten();
    this.#isReplying = false;
    this.#running = undefined;
    const duration = performance.now() - started;
    const { id, type } = node;
    const report = { node: id, type, duration_ms: milliseconds(duration), ...outcome.report };
    this.#ran.push(report);
    const { engine } = outcome;
    if (engine !== undefined) this.#engines.add(id, type, duration, engine);
    this.#log.trace({ ...report, jump: outcome.jump }, 'node ran');
    // A reply that was cancelled has an outcome, too.
    this.signal.throwIfAborted();
    return outcome;
  }

  #complete(
    outcome: Pick<ServerFrames['TurnComplete'], 'status' | 'error'>,
    started: number | undefined,
  ): ServerFrames['TurnComplete'] {
    const now = performance.now();
    // A turn cancelled before its start has only waited.
    const queued = (started ?? now) - this.#created;
    const ms = now - (started ?? now);
    const { status, error } = outcome;
    const facts = { status, code: error?.code, ms: milliseconds(ms), nodes: this.#ran.length };
    this.#log.debug(facts, 'turn complete');
    this.#options.observe?.(this.#facts(outcome, queued, ms));
    const { enableDiagnostics, includeEngine } = this.#options;
    return {
      type: 'TurnComplete',
      turn_id: this.id,
      text: this.#interaction.replyText,
      ...this.#results(),
      ...outcome,
      ...(enableDiagnostics && { diagnostics: this.#diagnostics(queued, ms) }),
      ...(enableDiagnostics && includeEngine && { debug_info: { nodes: [...this.#engines.list()] } }),
    };
  }

  #facts(
    { status, error }: Pick<ServerFrames['TurnComplete'], 'status' | 'error'>,
    queued: number,
    duration: number,
  ): TurnFacts {
    const { components, citations, replyText } = this.#interaction;
    const engines = this.#engines;
    const { agent, client } = this.#options;
    return {
      ...{ turn: this.id, agent, client },
      status,
      code: error?.code,
      failure: error && this.#failureFacts(error),
      speech: this.#options.speech,
      queuedMs: milliseconds(queued),
      durationMs: milliseconds(duration),
      nodes: this.#ran,
      engine: () => engines.list(), // not of `this`: it is kept longer than the turn
      skipped: this.#skipped.length,
      hits: components.filter(({ _type }) => _type === 'knowledge').length,
      citations: citations.length,
      components,
      message: this.#options.text,
      reply: replyText,
    };
  }

  #failureFacts({ name, message, details }: NonNullable<ServerFrames['TurnComplete']['error']>): TurnFailure {
    const { path } = details;
    const running = this.#running;
    return {
      ...{ name, message },
      ...(typeof path === 'string' && { path }),
      ...(running && { node: { id: running.id, type: running.type } }),
    };
  }

  /** Fields that only some turns have. */
  #results(): Pick<
    ServerFrames['TurnComplete'],
    'citations' | 'sources' | 'finish' | 'usage' | 'action' | 'memory' | 'dry_run'
  > {
    const { citations, used, finish, usage, action, memoryChanges, dryRun, dryRuns } = this.#interaction;
    return {
      ...(citations.length > 0 && { citations }),
      ...(used.length > 0 && { sources: sourcesOf(used, citations) }),
      ...(finish && { finish }),
      ...(usage && { usage }),
      ...(action && { action }),
      ...(memoryChanges.length > 0 && { memory: memoryChanges }),
      ...(dryRun && { dry_run: this.#shownDryRuns(dryRuns) }),
    };
  }

  /** Prompts are user content. */
  #shownDryRuns(dryRuns: readonly DryRun[]): DryRun[] {
    const { enableDiagnostics, includeInteraction } = this.#options;
    if (enableDiagnostics && includeInteraction) return [...dryRuns];
    return dryRuns.map(({ messages, ...counts }) => counts);
  }

  #failure(thrown: unknown): NonNullable<ServerFrames['TurnComplete']['error']> {
    const error = toServerError(thrown);
    if (isDefect(error)) this.#log.error({ err: thrown }, 'turn failed');
    return errorFields(error);
  }

  #diagnostics(queued: number, duration: number): TurnDiagnostics {
    const nodes = this.#ran.reduce((sum, { duration_ms }) => sum + duration_ms, 0);
    const diagnostics: TurnDiagnostics = {
      queued_ms: milliseconds(queued),
      duration_ms: milliseconds(duration),
      between_ms: milliseconds(Math.max(0, duration - nodes)),
      nodes: this.#ran,
      skipped: this.#skipped,
      versions: Object.fromEntries(this.#interaction.versions),
    };
    if (this.#options.speech !== undefined) diagnostics.speech = this.#options.speech;
    if (this.#options.includeInteraction) diagnostics.interaction = this.#interaction.components;
    return diagnostics;
  }
}
