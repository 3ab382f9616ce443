import { setMaxListeners } from 'node:events';
import { Agent, type AgentOptions } from '../agents/agent.js';
import { planGraph } from '../agents/graph.js';
import type { NodePlan } from '../agents/node.js';
import type { TurnOptions } from '../agents/turn.js';
import { Background } from '../lifecycle/background.js';
import type { Log } from '../log/log.js';
import { fail, type ServerError } from '../protocol/errors.js';
import type { ServerFrames } from '../protocol/frames.js';
import type { Graph } from '../protocol/graph.js';
import type { Retrieval } from '../protocol/retrieval.js';
import { compileFilter, type Query, type SearchOutcome, searchStorage } from '../storages/search.js';
import { StorageSet, type StorageSources } from '../storages/storage-set.js';

/** Most turns of one session that have not ended: each holds its text. */
export const maxUnfinishedTurns = 256;

/** One client's storages and agents. Everything in it ends with it. */
export class Session {
  readonly id: string;
  readonly storages: StorageSet;
  readonly #log: Log;
  readonly #ending = new AbortController();
  readonly #agents = new Map<string, Agent>();
  readonly #background = new Background();
  /** Which agent each unfinished turn belongs to. */
  readonly #turns = new Map<string, Agent>();
  #agentsMade = 0;
  #turnsMade = 0;

  constructor(id: string, sources: StorageSources, log: Log) {
    this.id = id;
    this.#log = log.child({ session: id });
    // One listener per search and creation under way: many are no leak.
    setMaxListeners(0, this.#ending.signal);
    this.storages = new StorageSet(sources, this.#ending.signal);
  }

  /** Aborted when the session ends; its reason is what requests under way are answered with. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /** Checks the graph, pins what its nodes name and gives the agent's id. */
  createAgent(graph: Graph, options: AgentOptions): Promise<string> {
    return this.#background.track(this.#openAgent(planGraph(graph), options));
  }

  /** Cancels the agent's turns and lets go of what it pinned. */
  destroyAgent(id: string): Promise<void> {
    const agent = this.#agent(id);
    this.#agents.delete(id);
    return this.#background.track(agent.close());
  }

  /** Searches a storage without an agent. */
  search(
    name: string,
    text: string,
    retrieval: Retrieval,
    variables: Readonly<Record<string, unknown>>,
  ): Promise<SearchOutcome> {
    return this.#background.track(this.#searchPinned(name, { text, retrieval, variables }));
  }

  /** Queues a turn; `emit` gets its TurnComplete, later than this returns. @throws AgentNotFound, TurnQueueFull */
  startTurn(
    agentId: string,
    turn: Pick<TurnOptions, 'text' | 'variables'>,
    emit: (frame: ServerFrames['TurnComplete']) => void,
  ): string {
    const agent = this.#agent(agentId);
    if (this.#turns.size >= maxUnfinishedTurns) {
      fail(4009, `the session has ${this.#turns.size} unfinished turns, as many as it may have`, {
        limit: maxUnfinishedTurns,
      });
    }
    const id = `${this.id}.t${++this.#turnsMade}`;
    this.#turns.set(id, agent);
    agent.start(id, turn, (complete) => {
      this.#turns.delete(id);
      emit(complete);
    });
    return id;
  }

  /** @throws TurnNotFound */
  cancelTurn(id: string): void {
    const turn = this.#turns.get(id)?.turn(id);
    if (turn === undefined) fail(4008, `turn_id: no turn ${shown(id)} is under way`, { path: 'turn_id' });
    turn.cancel();
  }

  /** Ends what is under way, for `reason`, and closes everything. */
  async close(reason: ServerError): Promise<void> {
    this.#ending.abort(reason);
    await Promise.all([...this.#agents.values()].map((agent) => agent.close()));
    await this.#background.settled();
    await this.storages.close();
  }

  async #openAgent(plans: readonly NodePlan[], options: AgentOptions): Promise<string> {
    const id = `${this.id}.a${++this.#agentsMade}`;
    const agent = await Agent.open(id, plans, this.storages, options, this.#log);
    if (this.signal.aborted) {
      await agent.close();
      throw this.signal.reason;
    }
    this.#agents.set(id, agent);
    return id;
  }

  async #searchPinned(
    name: string,
    query: Pick<Query, 'text' | 'retrieval' | 'variables'>,
  ): Promise<SearchOutcome> {
    const pin = await this.storages.pin(name, 'name');
    let filter: Query['filter'];
    try {
      filter = compileFilter(pin, query.retrieval.filter, 'filter', 1004);
      return await searchStorage(pin, { ...query, filter, where: 'filter', invalid: 1004 }, this.signal);
    } finally {
      await filter?.close();
      await pin.release();
    }
  }

  #agent(id: string): Agent {
    const agent = this.#agents.get(id);
    if (agent === undefined)
      fail(4007, `agent_id: the session has no agent ${shown(id)}`, { path: 'agent_id' });
    return agent;
  }
}

function shown(id: string): string {
  return JSON.stringify(id.slice(0, 64));
}
