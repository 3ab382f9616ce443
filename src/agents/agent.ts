import { setImmediate as nextTurnOfLoop } from 'node:timers/promises';
import { untilAborted } from '../lifecycle/until-aborted.js';
import type { Holding } from '../limits/client-memory.js';
import type { Log } from '../log/log.js';
import type { Flow } from './flow.js';
import type { GraphPlan } from './graph.js';
import type { AgentNode, NodeResources } from './node.js';
import { Turn, type TurnOptions, type TurnOutlet } from './turn.js';

export interface AgentOptions {
  /** The client's wish; the others are the operator's consent. */
  enableDiagnostics: boolean;
  includeInteraction: boolean;
  includeEngine: boolean;
  /** Most that the components of one turn may take together, in bytes. */
  largestInteraction: number;
}

interface AgentParts {
  nodes: readonly AgentNode[];
  flow: Flow;
  memory: Holding;
}

/** A graph with what its nodes hold. Its turns run one after the other, those of other agents beside them. */
export class Agent {
  readonly id: string;
  readonly #nodes: readonly AgentNode[];
  readonly #flow: Flow;
  readonly #memory: Holding;
  readonly #options: AgentOptions;
  readonly #log: Log;
  readonly #turns = new Map<string, Turn>();
  /** Settles when every turn so far has ended. */
  #tail: Promise<void> = Promise.resolve();

  private constructor(id: string, { nodes, flow, memory }: AgentParts, options: AgentOptions, log: Log) {
    this.id = id;
    this.#nodes = nodes;
    this.#flow = flow;
    this.#memory = memory;
    this.#options = options;
    this.#log = log.child({ agent: id });
  }

  /** Opens every node; when one fails, those already open are closed again. */
  static async open(
    id: string,
    { nodes: plans, flow }: GraphPlan,
    resources: NodeResources,
    options: AgentOptions,
    log: Log,
  ): Promise<Agent> {
    const nodes: AgentNode[] = [];
    try {
      for (const plan of plans) {
        // A node may have a filter to compile: others are served in between.
        if (nodes.length > 0) await nextTurnOfLoop();
        nodes.push(await plan.open(resources));
      }
    } catch (error) {
      await closeAll(nodes);
      resources.memory.release();
      throw error;
    }
    return new Agent(id, { nodes, flow, memory: resources.memory }, options, log);
  }

  turn(id: string): Turn | undefined {
    return this.#turns.get(id);
  }

  /** Queues a turn. Its frames go to the outlet, later than this returns; the promise says when it has ended. */
  start(
    id: string,
    { text, variables }: Pick<TurnOptions, 'text' | 'variables'>,
    outlet: TurnOutlet,
  ): Promise<void> {
    const turn = new Turn(id, { text, variables, ...this.#options }, outlet, this.#log);
    this.#turns.set(id, turn);
    const ended = this.#take(turn, outlet);
    // Without a result: it would hold that of every turn before.
    this.#tail = Promise.allSettled([this.#tail, ended]).then(() => {});
    return ended;
  }

  /** A turn waits for the agent's earlier ones and until its client can be sent more; a cancelled one does not. */
  async #take(turn: Turn, outlet: TurnOutlet): Promise<void> {
    const { signal } = turn;
    const ready = untilAborted(this.#tail, signal).then(() => outlet.waitForOutput(signal));
    const complete = await turn.run(ready, this.#nodes, this.#flow);
    this.#turns.delete(turn.id);
    outlet.send(complete);
    turn.release();
    const releaseOutput = await ready.catch(() => undefined);
    releaseOutput?.();
  }

  /** Cancels its turns, waits for their end and gives back what the nodes hold. */
  async close(): Promise<void> {
    for (const turn of this.#turns.values()) turn.cancel();
    await this.#tail;
    await closeAll(this.#nodes);
    this.#memory.release();
  }
}

async function closeAll(nodes: readonly AgentNode[]): Promise<void> {
  await Promise.all(nodes.map((node) => node.close()));
}
