import { eachInSlices, nextSlice } from '../base/waiting/next-slice.js';
import { untilAborted } from '../base/waiting/until-aborted.js';
import type { Holding } from '../fairness/client-memory.js';
import type { Log } from '../log/log.js';
import type { TurnAsOf } from '../protocol/as-of.js';
import { fail, type ServerError } from '../protocol/errors.js';
import type { History } from '../protocol/history.js';
import type { OpenedMemory } from '../protocol/memories.js';
import { errorFields } from '../storages/failure.js';
import type { StoragePin } from '../storages/storage-set.js';
import type { AgentMemory } from './agent-memory.js';
import type { Flow } from './flow.js';
import type { ForgottenTexts } from './forgotten-texts.js';
import type { GraphPlan } from './graph.js';
import { AgentHistory } from './history.js';
import type { AgentNode, NodeResources } from './node.js';
import { type AgentOptions, Turn, type TurnInput, type TurnOutlet } from './turn.js';

/** Resources of an agent. */
export interface AgentResources extends NodeResources {
  /** Memory counted for the agent's history; released with it. */
  readonly historyMemory: Holding;
}

interface AgentParts {
  nodes: readonly AgentNode[];
  flow: Flow;
  memory: Holding;
  history: AgentHistory;
  memories: ReadonlyMap<string, AgentMemory>;
}

/** A graph with its opened nodes. Its turns run one after another; agents run concurrently. */
export class Agent {
  readonly id: string;
  /** The memories of its `remember` nodes. */
  readonly memories: readonly OpenedMemory[];
  readonly #nodes: readonly AgentNode[];
  readonly #flow: Flow;
  readonly #memory: Holding;
  readonly #history: AgentHistory;
  readonly #options: AgentOptions;
  readonly #log: Log;
  readonly #turns = new Map<string, { readonly turn: Turn; readonly ended: Promise<void> }>();
  /** Settles when every turn so far has ended. */
  #tail: Promise<void> = Promise.resolve();

  private constructor(
    id: string,
    { nodes, flow, memory, history, memories }: AgentParts,
    options: AgentOptions,
    log: Log,
  ) {
    this.id = id;
    this.#nodes = nodes;
    this.#flow = flow;
    this.memories = [...memories.values()].map(({ opened }) => opened);
    this.#memory = memory;
    this.#history = history;
    this.#options = options;
    this.#log = log.child({ agent: id });
  }

  /**
   * Opens every node; if one fails or the session ends, closes those already open. `earlier`: turns to remember.
   * @throws as NodePlan.open()
   */
  static async open(
    id: string,
    { nodes: plans, flow }: GraphPlan,
    resources: AgentResources,
    options: AgentOptions,
    log: Log,
    earlier?: History,
  ): Promise<Agent> {
    const { memory, historyMemory, memories, signal } = resources;
    const nodes: AgentNode[] = [];
    try {
      for (const plan of plans) await plan.prepare?.(resources);
      for (const plan of plans) {
        // Opening a node may compile a filter: let the event loop run in between.
        if (nodes.length > 0) await nextSlice();
        signal.throwIfAborted();
        nodes.push(await plan.open(resources));
      }
      const turns = Math.max(0, ...plans.map(({ historyTurns = 0 }) => historyTurns));
      const history = new AgentHistory(turns, historyMemory, earlier?.turns);
      return new Agent(id, { nodes, flow, memory, history, memories }, options, log);
    } catch (error) {
      await closeAll(nodes);
      for (const opened of memories.values()) await opened.undo();
      memory.release();
      historyMemory.release();
      throw error;
    }
  }

  /** Resolves when the turns that are cancelled by now have ended, so that their replies are in the history. */
  async cancelledTurnsEnd(): Promise<void> {
    const cancelled = [...this.#turns.values()].filter(({ turn }) => turn.isCancelled);
    await Promise.allSettled(cancelled.map(({ ended }) => ended));
  }

  /**
   * Removes records with these texts from the turns that have not ended. Returns the numbers of the remembered turns that quote one, and
   * removes them if `remove`.
   */
  async forget(texts: ForgottenTexts, remove: boolean): Promise<number[]> {
    const turns = [...this.#turns.values()];
    for (const { turn } of turns) await turn.forget(texts, remove);
    const ending = turns.filter(({ turn }) => turn.isCancelled && !turn.isForgetting);
    await Promise.allSettled(ending.map(({ ended }) => ended));
    const quoting = await this.#history.quoting(texts, remove);
    if (remove) await this.keep();
    return quoting;
  }

  /** The turns that the agent remembers. */
  export(): History {
    return this.#history.export();
  }

  /** Bytes of the turns that it remembers. */
  get historyBytes(): number {
    return this.#history.heap;
  }

  /** Its id, the types of its nodes, and its turns that have not ended. */
  get state(): { id: string; nodes: string[]; turns: number } {
    return { id: this.id, nodes: this.#nodes.map(({ type }) => type), turns: this.#turns.size };
  }

  /** The storages that its nodes search. */
  get searched(): StoragePin[] {
    return this.#nodes.flatMap(({ searched }) => searched ?? []);
  }

  turn(id: string): Turn | undefined {
    return this.#turns.get(id)?.turn;
  }

  /** Cancels the turns that have not ended. Returns their ids. */
  interrupt(): string[] {
    const turns = [...this.#turns.values()].map(({ turn }) => turn).filter((turn) => !turn.isCancelled);
    void this.#cancel(turns);
    return turns.map(({ id }) => id);
  }

  /** Cancels turns in slices of the client. None of them begins meanwhile. Never rejects. */
  async #cancel(turns: readonly Turn[]): Promise<void> {
    for (const turn of turns) turn.withdraw();
    await eachInSlices(turns, (turn) => turn.cancel());
  }

  /**
   * The user heard only the first `characters` of a turn's reply: the turn is cancelled, and its history has no more. Resolves to
   * whether the agent remembers the turn.
   */
  async heard(id: string, characters: number): Promise<boolean> {
    const running = this.#turns.get(id);
    running?.turn.cancel();
    await running?.ended;
    const isRemembered = this.#history.heard(id, characters);
    await this.keep();
    return isRemembered;
  }

  /** @throws InvalidField for an `as_of` that names a storage which no node has: the turn would answer from the newest versions */
  checkAsOf(asOf: TurnAsOf | undefined): void {
    if (typeof asOf !== 'object') return;
    const unknown = Object.keys(asOf).find((name) => this.#nodes.every(({ storage }) => storage !== name));
    if (unknown === undefined) return;
    const shown = JSON.stringify(unknown.slice(0, 128));
    fail(1004, `as_of: the graph has no storage ${shown}`, { path: 'as_of' });
  }

  /** Queues a turn. Its frames go to the outlet after this returns; the promise settles at its end. */
  start(id: string, input: TurnInput, outlet: TurnOutlet): Promise<void> {
    const turn = new Turn(
      id,
      { ...input, agent: this.id, history: this.#history, ...this.#options },
      outlet,
      this.#log,
    );
    const ended = this.#take(turn, outlet);
    this.#turns.set(id, { turn, ended });
    // Drop the result: it would keep the results of all earlier turns alive.
    this.#tail = Promise.allSettled([this.#tail, ended]).then(() => {});
    return ended;
  }

  /** Runs a turn after the agent's earlier ones and once its client accepts output; a cancelled turn does not wait. */
  async #take(turn: Turn, outlet: TurnOutlet): Promise<void> {
    const { signal } = turn;
    const ready = untilAborted(this.#tail, signal).then(() => outlet.maySend(signal));
    const complete = await turn.run(ready, this.#nodes, this.#flow);
    this.#turns.delete(turn.id);
    // Before the client learns of its end: a turn that is complete is kept, or its client knows that it is not.
    const problem = await this.keep();
    if (problem !== undefined) complete.not_kept = errorFields(problem);
    outlet.send(complete);
    const sending = await ready.catch(() => undefined);
    sending?.end();
  }

  /** Cancels the agent's turns, waits for them and closes the nodes. */
  async close(): Promise<void> {
    await this.#cancel([...this.#turns.values()].map(({ turn }) => turn));
    await this.#tail;
    await this.keep();
    await closeAll(this.#nodes);
    this.#memory.release();
    this.#history.release();
  }

  /** Keeps its history, if it is to be kept. Returns why it was not kept. */
  async keep(): Promise<ServerError | undefined> {
    return this.#options.keeper?.keep(this.#history);
  }

  /** Keeps nothing of it any more. Precondition: it is closed. @throws as HistoryKeeper.drop() */
  async unkeep(): Promise<void> {
    await this.#options.keeper?.drop();
  }
}

async function closeAll(nodes: readonly AgentNode[]): Promise<void> {
  await Promise.all(nodes.map((node) => node.close()));
}
