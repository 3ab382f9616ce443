import type { Log } from '../log/log.js';
import type { ServerFrames } from '../protocol/frames.js';
import type { StorageSet } from '../storages/storage-set.js';
import type { AgentNode, NodePlan } from './node.js';
import { Turn, type TurnOptions } from './turn.js';

export interface AgentOptions {
  enableDiagnostics: boolean;
  includeInteraction: boolean;
}

type EmitComplete = (frame: ServerFrames['TurnComplete']) => void;

/** A graph with what its nodes hold. Its turns run one after the other, those of other agents beside them. */
export class Agent {
  readonly id: string;
  readonly #nodes: readonly AgentNode[];
  readonly #options: AgentOptions;
  readonly #log: Log;
  readonly #turns = new Map<string, Turn>();
  /** Settles when every turn so far has ended. */
  #tail: Promise<unknown> = Promise.resolve();

  private constructor(id: string, nodes: readonly AgentNode[], options: AgentOptions, log: Log) {
    this.id = id;
    this.#nodes = nodes;
    this.#options = options;
    this.#log = log.child({ agent: id });
  }

  /** Opens every node; when one fails, those already open are closed again. */
  static async open(
    id: string,
    plans: readonly NodePlan[],
    storages: StorageSet,
    options: AgentOptions,
    log: Log,
  ): Promise<Agent> {
    const nodes: AgentNode[] = [];
    try {
      for (const plan of plans) nodes.push(await plan.open(storages));
    } catch (error) {
      await closeAll(nodes);
      throw error;
    }
    return new Agent(id, nodes, options, log);
  }

  turn(id: string): Turn | undefined {
    return this.#turns.get(id);
  }

  /** Queues a turn. `emit` is called exactly once, later than this returns. */
  start(id: string, { text, variables }: Pick<TurnOptions, 'text' | 'variables'>, emit: EmitComplete): Turn {
    const turn = new Turn(id, { text, variables, ...this.#options }, this.#log);
    this.#turns.set(id, turn);
    const ended = turn.run(this.#tail, this.#nodes).then((complete) => {
      this.#turns.delete(id);
      emit(complete);
    });
    this.#tail = Promise.allSettled([this.#tail, ended]);
    return turn;
  }

  /** Cancels its turns, waits for their end and gives back what the nodes hold. */
  async close(): Promise<void> {
    for (const turn of this.#turns.values()) turn.cancel();
    await this.#tail;
    await closeAll(this.#nodes);
  }
}

async function closeAll(nodes: readonly AgentNode[]): Promise<void> {
  await Promise.all(nodes.map((node) => node.close()));
}
