import type { Account } from '../../../fairness/account.js';
import { fail } from '../../../protocol/errors.js';
import { Memory } from '../../../storages/memories/memory.js';
import type { AgentMemory } from '../../agent-memory.js';
import type { Interaction } from '../../interaction.js';
import type { AgentNode, NodeOutcome, NodePlan, NodeResources, NodeType } from '../../node.js';
import { parseParams } from '../../params.js';
import { type RememberParams, schema } from './schema.js';
import { StatementMaker } from './statements.js';

/** Adds what was said, decided or observed to a memory. */
export const node: NodeType = {
  templateLength: ({ template, condition, speaker, subject }) =>
    [template, condition, speaker, subject].reduce(
      (sum: number, each) => sum + (typeof each === 'string' ? each.length : 0),
      0,
    ),
  plan(id, given, where): NodePlan {
    const params = parseParams(schema.params, given, where);
    refuseContradictions(params, where);
    const maker = new StatementMaker(params, where);
    return {
      id,
      type: schema.type,
      historyTurns: params.kinds.includes('observed') ? 1 : 0,
      prepare: (resources) => openMemory(id, params, where, resources),
      open: async ({ memories, memory, account }) => {
        memory.add(maker.bytes, `${where}: the agent was not created`);
        return new RememberNode(id, memories.get(id) as AgentMemory, maker, account);
      },
    };
  },
};

/** @throws InvalidParam */
function refuseContradictions(
  { scope, name, secret, subject, on_conflict }: RememberParams,
  where: string,
): void {
  const refuse = (param: string, problem: string): never => {
    const path = `${where}.params.${param}`;
    fail(4003, `${path}: ${problem}`, { path });
  };
  if (scope === 'name' && name === undefined) refuse('name', 'is missing; a memory of scope "name" has one');
  if (scope !== 'name' && name !== undefined)
    refuse('name', `has no effect with scope ${JSON.stringify(scope)}`);
  if (scope === 'session' && secret !== undefined)
    refuse('secret', 'has no effect with scope "session", which ends with the session');
  if (on_conflict === 'replace' && subject === undefined)
    refuse('on_conflict', '"replace" has no effect without subject');
}

async function openMemory(
  node: string,
  params: RememberParams,
  where: string,
  { storages, memories, attended, onForgotten }: NodeResources,
): Promise<void> {
  const { storage, scope, name, secret, embedding_model } = params;
  if (!attended && scope !== 'session' && secret === undefined) {
    const path = `${where}.params.secret`;
    fail(4003, `${path}: is missing; this door cannot tell the secret of a memory that it makes`, { path });
  }
  const wish = { scope, embedding_model, ...(name !== undefined && { name }), secret };
  const made = await storages.openMemory(storage, wish, `${where}.params.`);
  memories.set(node, {
    node,
    storage,
    memory: new Memory(made.pin.value, scope, onForgotten),
    rules: { similarity: params.merge_similarity, conflict: params.on_conflict },
    versions: made.versions,
    importance: params.importance,
    confirmMs: params.confirm_ms,
    opened: {
      node,
      storage,
      scope,
      created: made.created,
      ...(made.secret !== undefined && { secret: made.secret }),
    },
    release: () => made.pin.release(),
    undo: made.undo,
  });
}

class RememberNode implements AgentNode {
  readonly id: string;
  readonly type = schema.type;
  readonly #memory: AgentMemory;
  readonly #maker: StatementMaker;
  readonly #account: Account;

  constructor(id: string, memory: AgentMemory, maker: StatementMaker, account: Account) {
    this.id = id;
    this.#memory = memory;
    this.#maker = maker;
    this.#account = account;
  }

  get storage(): string {
    return this.#memory.storage;
  }

  async run(interaction: Interaction, signal: AbortSignal): Promise<NodeOutcome> {
    const statements = this.#maker.statements(interaction);
    // A turn of the past, or one that only shows its prompts, changes nothing.
    if (interaction.isOfThePast || interaction.dryRun) return { report: { remembered: 0, merged: 0 } };
    const { memory, rules, storage, node } = this.#memory;
    const work = { account: this.#account, versions: this.#memory.versions(), signal };
    const { version, remembered } = await memory.remember(statements, rules, work);
    if (remembered.length > 0)
      interaction.memoryChanges.push({ node, storage, version, remembered, forgotten: [] });
    const merged = remembered.filter(({ change }) => change === 'merged').length;
    return { report: { remembered: remembered.length, merged, memory_version: version } };
  }

  close(): Promise<void> {
    return this.#memory.release();
  }
}
