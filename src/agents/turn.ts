import { isDefect, toServerError } from '../failure/failure.js';
import { untilAborted } from '../lifecycle/until-aborted.js';
import type { Log } from '../log/log.js';
import type { NodeDiagnostics, ServerFrames, TurnDiagnostics } from '../protocol/frames.js';
import { Interaction } from './interaction.js';
import type { AgentNode } from './node.js';

export interface TurnOptions {
  text: string;
  variables: Readonly<Record<string, unknown>>;
  enableDiagnostics: boolean;
  /** Whether diagnostics carry the components: the operator's choice. */
  includeInteraction: boolean;
}

/** One exchange with an agent, from its request to its TurnComplete. */
export class Turn {
  readonly id: string;
  readonly #options: TurnOptions;
  readonly #log: Log;
  readonly #cancelling = new AbortController();
  readonly #created = performance.now();
  readonly #ran: NodeDiagnostics[] = [];

  constructor(id: string, options: TurnOptions, log: Log) {
    this.id = id;
    this.#options = options;
    this.#log = log.child({ turn: id });
  }

  get signal(): AbortSignal {
    return this.#cancelling.signal;
  }

  /** Ends the turn as soon as its current step notices; its TurnComplete has the status "cancelled". */
  cancel(): void {
    this.#cancelling.abort();
  }

  /** Waits for `previous` (a cancelled turn does not), runs the nodes in order and gives the TurnComplete. Never rejects. */
  async run(previous: Promise<unknown>, nodes: readonly AgentNode[]): Promise<ServerFrames['TurnComplete']> {
    const interaction = new Interaction(this.#options.text, this.#options.variables);
    let started = performance.now();
    let outcome: Pick<ServerFrames['TurnComplete'], 'status' | 'error'>;
    try {
      await untilAborted(previous, this.signal);
      started = performance.now();
      for (const node of nodes) await this.#runNode(node, interaction);
      outcome = { status: 'completed' };
    } catch (error) {
      outcome = this.signal.aborted
        ? { status: 'cancelled' }
        : { status: 'failed', error: this.#failure(error) };
    }
    const ended = performance.now();
    const diagnostics = this.#diagnostics(started - this.#created, ended - started, interaction);
    this.#log.debug(
      { status: outcome.status, ms: ended - started, nodes: this.#ran.length },
      'turn complete',
    );
    return {
      type: 'TurnComplete',
      turn_id: this.id,
      text: '',
      ...outcome,
      ...(diagnostics && { diagnostics }),
    };
  }

  async #runNode(node: AgentNode, interaction: Interaction): Promise<void> {
    const started = performance.now();
    const report = await node.run(interaction, this.signal);
    this.signal.throwIfAborted();
    this.#ran.push({ node: node.id, type: node.type, duration_ms: performance.now() - started, ...report });
  }

  #failure(thrown: unknown): NonNullable<ServerFrames['TurnComplete']['error']> {
    const error = toServerError(thrown);
    if (isDefect(error)) this.#log.error({ err: thrown }, 'turn failed');
    const { code, name, message, details } = error;
    return { code, name, message, details };
  }

  #diagnostics(queued: number, duration: number, interaction: Interaction): TurnDiagnostics | undefined {
    if (!this.#options.enableDiagnostics) return undefined;
    const diagnostics: TurnDiagnostics = { queued_ms: queued, duration_ms: duration, nodes: this.#ran };
    if (this.#options.includeInteraction) diagnostics.interaction = interaction.components;
    return diagnostics;
  }
}
