import { setMaxListeners } from 'node:events';
import type { StorageChanges, UpdateResult } from '../../lib/internal.js';
import { Agent } from '../agents/agent.js';
import type { ForgottenTexts } from '../agents/forgotten-texts.js';
import { type GraphPlan, isLargeGraph, type NodeTypes, planGraph, planLargeGraph } from '../agents/graph.js';
import { Interaction } from '../agents/interaction.js';
import type { NodeLists } from '../agents/lists/node-lists.js';
import type { PatternShare } from '../agents/lists/pattern-thread.js';
import type { NodeResources } from '../agents/node.js';
import { QueryTemplate } from '../agents/query-template.js';
import type { AgentOptions, TurnInput } from '../agents/turn.js';
import { mapInSlices } from '../base/waiting/next-slice.js';
import { PendingWork } from '../base/waiting/pending-work.js';
import type { Account } from '../fairness/account.js';
import type { Bytes } from '../fairness/bytes.js';
import { agentBytes, exportBytes, turnBytes } from '../fairness/estimates.js';
import type { QuotingHistory, SearchableStorage } from '../knowledge/index.js';
import { withLogContext } from '../log/context.js';
import type { Log } from '../log/log.js';
import type { LanguageModels } from '../models/language-models.js';
import type { ModelPulls } from '../models/model-pulls.js';
import type { Rerankers } from '../models/rerankers.js';
import type { SessionState } from '../operations/monitor/state.js';
import { fail, ServerError } from '../protocol/errors.js';
import type { ServerFrame } from '../protocol/frames.js';
import type { Graph } from '../protocol/graph.js';
import type { History } from '../protocol/history.js';
import type { OpenedMemory } from '../protocol/memories.js';
import type { Retrieval } from '../protocol/retrieval.js';
import {
  applyChanges,
  atVersion,
  checkWritable,
  type ForgottenRecords,
  forgetRecords,
  type WriteRules,
  writeRefusal,
} from '../storages/changes.js';
import { recordsBytes } from '../storages/result-bytes.js';
import { type SearchedStorage, StorageSearch } from '../storages/search.js';
import { type StoragePin, StorageSet, type StorageSources } from '../storages/storage-set.js';
import type { WireOutcome } from '../storages/wire.js';
import type { SearchPlaces } from '../storages/wire-errors.js';
import { type ConfirmedRecords, ForgetRequests } from './forget-requests.js';
import type { Forgetting } from './forgetting.js';
import { SessionPulls } from './model-requests.js';
import type { SessionKeeping } from './session-keeping.js';

/** Maximum number of turns of one session that have not ended: each holds its text. */
const maxUnfinishedTurns = 1024;

/** Maximum number of agents of one session. */
export const maxAgents = 1024;

/** Sources of a session's storages, and resources of its nodes. */
export interface SessionSources extends StorageSources {
  readonly lists: NodeLists;
  readonly nodeTypes: NodeTypes;
  readonly languageModels: LanguageModels;
  readonly rerankers: Rerankers;
  readonly modelPulls: ModelPulls;
  /** Whether clients may download models. */
  readonly pullsAllowed: boolean;
  /** The client's share of the thread that searches for patterns. */
  readonly patterns: PatternShare;
  readonly forgetting: Forgetting;
}

/** A search without an agent. */
export interface SearchRequest extends Retrieval {
  /** The storage, or several. */
  name?: string | undefined;
  names?: readonly string[] | undefined;
  text?: string | undefined;
  /** Id of a record, in place of the text. */
  similar_to?: string | undefined;
  /** A Mustache template over `text` and `variables`. */
  query: string;
  variables: Readonly<Record<string, unknown>>;
  /** A version, or the time of one. */
  as_of?: number | string | undefined;
}

/** An agent's id, and the memories that it has opened. */
export interface CreatedAgent {
  readonly id: string;
  readonly memories: readonly OpenedMemory[];
  /** Why it was not kept. */
  readonly notKept?: ServerError | undefined;
}

/** One client's storages and agents. Everything in it ends with it. */
export class Session {
  readonly id: string;
  readonly storages: StorageSet;
  readonly pulls: SessionPulls;
  /** Undefined unless the session is kept. */
  keeping: SessionKeeping | undefined;
  readonly #resources: Omit<NodeResources, 'memory' | 'memories' | 'attended' | 'signal'>;
  readonly #account: Account;
  readonly #versions: StorageSources['versions'];
  readonly #nodeTypes: NodeTypes;
  readonly #log: Log;
  readonly #ending = new AbortController();
  readonly #agents = new Map<string, Agent>();
  readonly #pending = new PendingWork();
  readonly #leave: () => void;
  /** Which agent each unfinished turn belongs to. */
  readonly #turns = new Map<string, Agent>();
  readonly #forgets = new ForgetRequests();
  #agentsMade = 0;
  #agentsOpening = 0;
  #turnsMade = 0;

  constructor(id: string, sources: SessionSources, log: Log) {
    this.id = id;
    this.#log = log.child({ session: id });
    // One listener per search and creation under way: many are no leak.
    setMaxListeners(0, this.#ending.signal);
    this.storages = new StorageSet(sources, this.#ending.signal);
    this.pulls = new SessionPulls(sources.modelPulls, sources.pullsAllowed, this.#ending.signal);
    const { root, lists, account, patterns, languageModels, rerankers, forgetting } = sources;
    this.#account = account;
    this.#versions = sources.versions;
    this.#resources = {
      storages: this.storages,
      root,
      lists,
      account,
      patterns,
      languageModels,
      rerankers,
      onForgotten: (forgotten) => forgetting.forget(forgotten, account),
    };
    this.#nodeTypes = sources.nodeTypes;
    this.#leave = forgetting.join(this);
  }

  /** The client whose session it is. */
  get client(): object {
    return this.#account;
  }

  /** Aborted when the session ends; unfinished requests are answered with its reason. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /** Its storages and agents. */
  get state(): SessionState {
    const agents = [...this.#agents.values()].map((agent) => agent.state);
    return { id: this.id, storages: this.storages.names, agents };
  }

  /** Checks the graph and opens its nodes. `attended`: whether the client learns of new memories. @throws TooManyAgents; defects of the graph */
  async createAgent(
    graph: Graph,
    options: AgentOptions,
    history?: History,
    attended = true,
  ): Promise<CreatedAgent> {
    const types = this.#nodeTypes;
    const plan = isLargeGraph(graph, types)
      ? await this.#pending.track(planLargeGraph(graph, types, this.signal))
      : planGraph(graph, types);
    if (this.#agents.size + this.#agentsOpening >= maxAgents) {
      fail(4013, `the session has reached its limit of ${maxAgents} agents; destroy one first`, {
        limit: maxAgents,
      });
    }
    this.#agentsOpening++;
    try {
      return await this.#pending.track(
        this.#openAgent(plan, agentBytes(graph), options, { history, attended }),
      );
    } finally {
      this.#agentsOpening--;
    }
  }

  /**
   * Sends the turns that an agent remembers, for the `history` of another agent, once the client reads and there is memory for
   * them. @throws AgentNotFound; as Account.send() and Sending.reserve()
   */
  exportAgent(id: string, send: (history: History) => void): Promise<void> {
    const agent = this.#agent(id);
    const work = async () => {
      const sending = await this.#account.send(this.signal);
      try {
        await agent.cancelledTurnsEnd();
        const { passing } = this.#account.memory.ledger;
        await sending.reserve(exportBytes(agent.historyBytes, passing.total), this.signal);
        send(agent.export());
      } finally {
        sending.end();
      }
    };
    return this.#pending.track(work());
  }

  /** Cancels the agent's turns and releases its pins. */
  destroyAgent(id: string): Promise<void> {
    const agent = this.#agent(id);
    this.#agents.delete(id);
    return this.#pending.track(agent.close().then(() => agent.unkeep()));
  }

  /** Searches a storage without an agent; resolves when the outcome is sent. */
  search(request: SearchRequest, send: (outcome: WireOutcome) => void): Promise<void> {
    const template = new QueryTemplate(request.query, 'query', 1004);
    const { text: given } = request;
    const text = given === undefined ? '' : template.render(new Interaction(given, request.variables));
    const places = {
      text: template.origin,
      fields: '',
      invalid: 1004,
    } as const;
    const { name, names = [name as string] } = request;
    const where = (index: number) => (name === undefined ? `names[${index}]` : 'name');
    const named = names.map((value, index) => ({ where: where(index), value }));
    return this.#pending.track(this.#search(named, { ...request, text }, places, send));
  }

  /** Applies a batch of changes to a storage. @throws StorageNotWritable; as applyChanges() */
  change(name: string, changes: StorageChanges, rules: WriteRules): Promise<UpdateResult> {
    return this.#withStorage(name, (storage) => {
      this.#checkWritable(name, storage, rules);
      const work = { account: this.#account, versions: this.#versions(), signal: this.signal };
      return applyChanges(storage, changes, work).catch(this.#tellUnsaved);
    });
  }

  /** Removes records of a storage for good. @throws StorageNotWritable; as forgetRecords() */
  forget(
    name: string,
    { ids, histories }: { ids: readonly string[]; histories: boolean },
    rules: WriteRules,
  ): Promise<ForgottenRecords> {
    return this.#withStorage(name, (storage) => {
      this.#checkWritable(name, storage, rules);
      const { onForgotten } = this.#resources;
      const work = { account: this.#account, signal: this.signal, onForgotten, histories };
      return forgetRecords(storage, ids, work).catch(this.#tellUnsaved);
    });
  }

  /** Whether clients with the right may change the storage to which the operator's config gives this name. */
  mayChangeDeclared(name: string, rules: WriteRules): boolean {
    const declared = this.storages.declared(name);
    return declared !== undefined && writeRefusal('knowledge base', rules, declared) === undefined;
  }

  /** Reads a storage at a version, once the client reads and there is memory for `records` of its records. */
  read<Result>(
    { name, asOf, records }: { name: string; asOf: number | string | undefined; records: number },
    work: (storage: SearchableStorage, signal: AbortSignal) => Promise<Result>,
    send: (result: Result) => void,
  ): Promise<void> {
    return this.#withStorage(name, async (newest) => {
      const sending = await this.#account.send(this.signal);
      try {
        await sending.reserve(recordsBytes(newest, records), this.signal);
        const { storage, release } = atVersion(newest, asOf);
        try {
          send(await work(storage, this.signal));
        } finally {
          await release();
        }
      } finally {
        sending.end();
      }
    });
  }

  /** Logs why a change was not saved: clients do not learn the server's paths. @throws the error */
  readonly #tellUnsaved = (error: unknown): never => {
    if (error instanceof ServerError && (error.code === 8013 || error.code === 8014))
      this.#log.warn({ code: error.code, err: error.cause }, 'a change was not saved');
    throw error;
  };

  #checkWritable(name: string, storage: SearchableStorage, rules: WriteRules): void {
    checkWritable(storage, rules, this.storages.declared(name));
  }

  #withStorage<Result>(name: string, work: (storage: SearchableStorage) => Promise<Result>): Promise<Result> {
    const run = async () => {
      const pin = await this.storages.pin(name, 'name', { unknown: 8005 });
      try {
        return await work(pin.value);
      } finally {
        await pin.release();
      }
    };
    return this.#pending.track(run());
  }

  /**
   * Queues a turn. Its frames are sent after this returns; `ended` settles when all its resources are released. `attended`: whether
   * the client can answer a TurnForget.
   * @throws AgentNotFound, TurnQueueFull
   */
  startTurn(
    agentId: string,
    turn: TurnInput,
    send: (frame: ServerFrame) => void,
    attended = true,
  ): { id: string; ended: Promise<void> } {
    const agent = this.#agent(agentId);
    agent.checkAsOf(turn.asOf);
    if (this.#turns.size >= maxUnfinishedTurns) {
      const many = `the session has reached its limit of ${maxUnfinishedTurns} unfinished turns`;
      fail(4009, `${many}; wait for a TurnComplete`, { limit: maxUnfinishedTurns });
    }
    const memory = this.#account.memory.hold('turns');
    memory.add(turnBytes, 'the turn was not accepted');
    const id = `${this.id}.t${++this.#turnsMade}`;
    this.#turns.set(id, agent);
    const ended = withLogContext({ session: this.id, agent: agent.id, turn: id }, () =>
      agent.start(id, turn, {
        maySend: (signal) => this.#account.send(signal),
        askToForget: attended ? this.#forgets.of(id, send) : undefined,
        send: (frame) => {
          if (frame.type === 'TurnComplete') this.#turns.delete(id);
          send(frame);
        },
      }),
    );
    void ended.then(memory.release, memory.release);
    return { id, ended };
  }

  /** Removes records with these texts from unfinished turns. Returns the histories of its agents that quote one. */
  async forgetTexts(texts: ForgottenTexts, remove: boolean): Promise<QuotingHistory[]> {
    const found: QuotingHistory[] = [];
    for (const agent of this.#agents.values()) {
      const turns = await agent.forget(texts, remove);
      if (turns.length > 0) found.push({ session: this.id, agent: agent.id, turns, removed: remove });
    }
    return found;
  }

  /** Answers a TurnForget. @throws ForgetNotPending, InvalidField */
  confirmForget(forgetId: string, confirm: boolean, what: ConfirmedRecords): void {
    this.#forgets.answer(forgetId, confirm, what);
  }

  /** @throws AgentNotFound */
  checkAgent(id: string): void {
    this.#agent(id);
  }

  /** Returns pins on the storages that an agent searches. Release them. @throws AgentNotFound */
  pinSearched(agentId: string): StoragePin[] {
    return this.#agent(agentId).searched.map((pin) => pin.share());
  }

  /** Cancels the unfinished turns of an agent, if it is there. Returns their ids. */
  interrupt(agentId: string): string[] {
    return this.#agents.get(agentId)?.interrupt() ?? [];
  }

  /** As Agent.heard(). @throws TurnNotFound for a turn that never was */
  async replyHeard(id: string, characters: number): Promise<void> {
    const agent = this.#turns.get(id);
    const agents = agent === undefined ? [...this.#agents.values()] : [agent];
    for (const each of agents) if (await this.#pending.track(each.heard(id, characters))) return;
    if (agent === undefined && !this.#hadTurn(id)) this.#refuseTurn(id);
  }

  /** Has close() wait for work. Returns it. */
  track<T>(work: Promise<T>): Promise<T> {
    return this.#pending.track(work);
  }

  /** @throws TurnNotFound */
  cancelTurn(id: string): void {
    const turn = this.#turns.get(id)?.turn(id);
    if (turn === undefined) this.#refuseTurn(id);
    turn.cancel();
  }

  /** Ends unfinished work with `reason`, and closes everything. */
  async close(reason: ServerError): Promise<void> {
    this.#ending.abort(reason);
    this.#leave();
    const agents = [...this.#agents.values()];
    const closing = await mapInSlices(agents, (agent) => this.#pending.track(agent.close()), 1);
    await Promise.all(closing);
    await this.#pending.settled();
    await this.storages.close();
  }

  async #openAgent(
    plan: GraphPlan,
    bytes: Bytes,
    options: AgentOptions,
    { history, attended }: { history: History | undefined; attended: boolean },
  ): Promise<CreatedAgent> {
    const id = `${this.id}.a${++this.#agentsMade}`;
    const memory = this.#account.memory.hold('agents');
    memory.add(bytes, 'the agent was not created');
    const { signal } = this;
    const resources = {
      ...this.#resources,
      memory,
      historyMemory: this.#account.memory.hold('agents'),
      memories: new Map(),
      attended,
      signal,
    };
    const agent = await Agent.open(id, plan, resources, options, this.#log, history);
    if (this.signal.aborted) {
      await agent.close();
      throw this.signal.reason;
    }
    this.#agents.set(id, agent);
    return { id, memories: agent.memories, notKept: await agent.keep() };
  }

  async #search(
    named: readonly SearchPlaces['storage'][],
    request: SearchRequest,
    places: Omit<SearchPlaces, 'storage'>,
    send: (outcome: WireOutcome) => void,
  ): Promise<void> {
    const { stale, names, text = '', variables } = request;
    const releases: (() => unknown)[] = [];
    try {
      const storages: SearchedStorage[] = [];
      for (const place of named) {
        const { value, where } = place;
        const pin = await this.storages.pin(value, where, { unknown: 8005, stale });
        releases.push(() => pin.release());
        if (request.as_of === undefined) storages.push({ storage: pin.value, place, name: names && value });
        else {
          const { storage, release } = atVersion(pin.value, request.as_of);
          releases.push(release);
          storages.push({ storage, place });
        }
      }
      const searched = storages as [SearchedStorage];
      const search = await StorageSearch.prepare(searched, request, places, this.#resources);
      const sending = await this.#account.send(this.signal);
      releases.push(() => sending.end());
      await sending.reserve(search.resultBytes, this.signal);
      send(await search.run(text, variables, this.signal));
    } finally {
      for (const release of releases.reverse()) await release();
    }
  }

  /** Whether there was a turn with this id. */
  #hadTurn(id: string): boolean {
    const number = id.startsWith(`${this.id}.t`) ? id.slice(this.id.length + 2) : '';
    return /^[1-9]\d{0,15}$/.test(number) && Number(number) <= this.#turnsMade;
  }

  #refuseTurn(id: string): never {
    const ended = this.#hadTurn(id);
    const state = ended ? 'has ended already; its TurnComplete was sent' : 'is not one of this session';
    fail(4008, `turn_id: the turn ${shown(id)} ${state}`, { path: 'turn_id', ended });
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
