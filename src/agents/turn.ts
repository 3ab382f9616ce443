import { nextSlice } from '../base/waiting/next-slice.js';
import type { Sending } from '../fairness/account.js';
import type { Log } from '../log/log.js';
import type { DryRun } from '../protocol/engine.js';
import type { NodeDiagnostics, ServerFrames, TurnDiagnostics } from '../protocol/frames.js';
import { milliseconds } from '../protocol/milliseconds.js';
import { errorFields, isDefect, toServerError } from '../storages/failure.js';
import { EngineReports } from './engine-reports.js';
import type { Flow } from './flow.js';
import type { AgentHistory } from './history.js';
import { Interaction } from './interaction.js';
import type { AgentNode, NodeOutcome } from './node.js';
import type { TurnFacts, TurnObserver } from './turn-facts.js';
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
}

interface TurnOptions extends TurnInput, AgentOptions {
  /** The agent's history when the turn starts. */
  history: AgentHistory;
}

/** Where a turn's frames go. */
export interface TurnOutlet {
  send(frame: ServerFrames['TurnText' | 'TurnComplete']): void;
  /** As Account.send(). */
  maySend(signal: AbortSignal): Promise<Sending>;
}

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
  readonly #ran: NodeDiagnostics[] = [];
  readonly #skipped: string[] = [];
  readonly #engines = new EngineReports();

  constructor(id: string, options: TurnOptions, outlet: TurnOutlet, log: Log) {
    this.id = id;
    this.#options = options;
    const { text, variables, largestInteraction, history, actionResult, dryRun } = options;
    this.#history = history;
    this.#interaction = new Interaction(text, variables, {
      onText: (piece) => outlet.send({ type: 'TurnText', turn_id: id, ...piece }),
      limit: largestInteraction,
      reserve: async (bytes, signal) => this.#sending?.reserve(bytes, signal),
      history,
      actionResult,
      dryRun,
    });
    this.#log = log.child({ turn: id });
  }

  get signal(): AbortSignal {
    return this.#cancelling.signal;
  }

  /** Ends the turn once its current step notices; its TurnComplete has the status "cancelled". */
  cancel(): void {
    this.#cancelling.abort();
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
      started = performance.now();
      this.#history.checkResult(this.#options.actionResult);
      await this.#runNodes(nodes, flow);
      outcome = { status: 'completed' };
    } catch (error) {
      outcome = this.signal.aborted
        ? { status: 'cancelled' }
        : { status: 'failed', error: this.#failure(error) };
    }
    this.#remember(outcome.status);
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
  #remember(status: ServerFrames['TurnComplete']['status']): void {
    const { text, replyText: reply, action, dryRun, actionResult } = this.#interaction;
    if (dryRun || status === 'failed' || (status === 'cancelled' && reply === '')) return;
    this.#history.add({
      text,
      reply,
      ...(action && { action: { name: action.name, arguments: action.arguments } }),
      ...(actionResult !== undefined && { action_result: actionResult }),
    });
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
    const started = performance.now();
    const outcome = await node.run(this.#interaction, this.signal);
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
    return {
      turn: this.id,
      status,
      code: error?.code,
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

  /** Fields that only some turns have. */
  #results(): Pick<
    ServerFrames['TurnComplete'],
    'citations' | 'sources' | 'finish' | 'usage' | 'action' | 'dry_run'
  > {
    const { citations, used, finish, usage, action, dryRun, dryRuns } = this.#interaction;
    return {
      ...(citations.length > 0 && { citations }),
      ...(used.length > 0 && { sources: sourcesOf(used, citations) }),
      ...(finish && { finish }),
      ...(usage && { usage }),
      ...(action && { action }),
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
    };
    if (this.#options.includeInteraction) diagnostics.interaction = this.#interaction.components;
    return diagnostics;
  }
}
