import { z } from 'zod';
import type { Account } from '../fairness/account.js';
import type { Action } from '../protocol/history.js';
import type { MemoryChange } from '../protocol/memories.js';
import type { StoredWireRecord } from '../protocol/records.js';
import { normalText } from '../storages/memories/statement.js';
import { wireHistories } from '../storages/wire.js';
import type { AgentMemory } from './agent-memory.js';
import type { Interaction } from './interaction.js';

const longestText = 1000;
const longestSubject = 100;

const schemas = {
  remember: z.object({
    text: z.string().max(longestText),
    subject: z.string().max(longestSubject).optional(),
    importance: z.number().min(0).max(1).optional(),
  }),
  forget: z.object({ text: z.string().max(longestText) }),
};

/** The actions of a memory, which the server carries out itself. They have the form of a generate node's `actions`. */
export const memoryActions = [
  {
    name: 'remember',
    description: 'Keeps a statement for later conversations.',
    parameters: {
      type: 'object',
      properties: {
        text: { type: 'string', minLength: 1, maxLength: longestText },
        subject: { type: 'string', maxLength: longestSubject },
        importance: { enum: [0, 0.25, 0.5, 0.75, 1] },
      },
      required: ['text'],
      additionalProperties: false,
    },
  },
  {
    name: 'forget',
    description: 'Asks the user whether what is remembered about something may be deleted.',
    parameters: {
      type: 'object',
      properties: { text: { type: 'string', minLength: 1, maxLength: longestText } },
      required: ['text'],
      additionalProperties: false,
    },
  },
];

export const isMemoryAction = (action: Action): action is Action & { name: keyof typeof schemas } =>
  Object.hasOwn(schemas, action.name);

interface ActionWork {
  readonly account: Account;
  readonly signal: AbortSignal;
}

/**
 * Carries out an action of a memory, in that memory alone. Nothing is forgotten without the client's confirmation: the text that
 * made the model ask may be one that was found. @throws as Memory.remember() and Memory.forget()
 */
export async function runMemoryAction(
  action: Action,
  memory: AgentMemory,
  interaction: Interaction,
  work: ActionWork,
): Promise<void> {
  if (interaction.isOfThePast || !isMemoryAction(action)) return;
  const change =
    action.name === 'remember'
      ? await remember(action.arguments, memory, interaction, work)
      : await forget(action.arguments, memory, interaction, work);
  if (change === undefined) return;
  const { node, storage } = memory;
  interaction.memoryChanges.push({ node, storage, ...change });
}

type Change = Omit<MemoryChange, 'node' | 'storage'>;

async function remember(
  given: unknown,
  { memory, rules, importance: usual, versions }: AgentMemory,
  { turnId: turn }: Interaction,
  work: ActionWork,
): Promise<Change | undefined> {
  const { data } = schemas.remember.safeParse(given);
  const text = data?.text.trim() ?? '';
  if (data === undefined || text === '') return undefined;
  const { subject = '', importance = usual } = data;
  const statement = {
    text,
    kind: 'decided',
    speaker: 'agent',
    turn,
    subject: normalText(subject),
    importance,
  } as const;
  const made = await memory.remember([statement], rules, { ...work, versions: versions() });
  return { ...made, forgotten: [] };
}

async function forget(
  given: unknown,
  { memory, node, storage, confirmMs }: AgentMemory,
  interaction: Interaction,
  work: ActionWork,
): Promise<Change | undefined> {
  const { data } = schemas.forget.safeParse(given);
  const text = data?.text.trim() ?? '';
  if (text === '') return undefined;
  const nothing = (why: MemoryChange['forget']): Change => ({
    version: memory.storage.version,
    remembered: [],
    forgotten: [],
    forget: why,
  });
  const found = await memory.find(text, work);
  if (found.length === 0) return nothing('nothing');
  const { askToForget } = interaction;
  if (askToForget === undefined) return nothing('unattended');
  const records = found.map(({ id, text: stored }: StoredWireRecord) => ({ id, text: stored }));
  const answer = await askToForget({ node, storage, records, confirmMs }, work.signal);
  if (answer === 'expired') return nothing('expired');
  const ids = records.map(({ id }) => id).filter((id) => answer.ids.includes(id));
  if (ids.length === 0) return nothing('declined');
  const { histories } = answer;
  const { histories: quoting, ...done } = await interaction.whileForgetting(() =>
    memory.forget(ids, { ...work, histories }),
  );
  return { ...done, remembered: [], forget: 'confirmed', histories: wireHistories(quoting) };
}
