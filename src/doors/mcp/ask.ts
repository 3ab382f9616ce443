import type { AsOf } from '../../protocol/as-of.js';
import type { ServerFrames } from '../../protocol/frames.js';
import type { DoorSession } from '../host.js';
import { whenNothingIsFound } from '../nothing-relevant.js';
import type { Knowledge, ShownStorage } from './knowledge.js';
import { McpRefusal } from './refusal.js';

type Complete = ServerFrames['TurnComplete'];

/** The search of an answer. */
export interface Question {
  readonly question: string;
  readonly storages: readonly ShownStorage[];
  readonly topK: number | undefined;
  readonly filter: object | undefined;
  readonly asOf: AsOf | undefined;
}

/** Answers by one turn of an agent that lives as long. @throws ServerError, McpRefusal; the signal's reason */
export async function answer(
  { session, model }: Knowledge,
  question: Question,
  signal: AbortSignal,
): Promise<Complete> {
  signal.throwIfAborted();
  const graph = graphOf(question, model);
  const { agent_id } = await session.call('CreateAgentRequest', { graph });
  const stop = () => end(session, agent_id);
  signal.addEventListener('abort', stop, { once: true });
  try {
    const complete = await new Promise<Complete>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      const fields = { agent_id, text: question.question, hits: true, ...versionsOf(question) };
      session
        .call('TurnRequest', fields, (frame) => frame.type === 'TurnComplete' && resolve(frame))
        .catch(reject);
    });
    const { status, error } = complete;
    if (error !== undefined) throw new McpRefusal(`the turn ${status}: ${error.message}`);
    return complete;
  } finally {
    signal.removeEventListener('abort', stop);
    if (!signal.aborted) end(session, agent_id);
  }
}

/** The version that each storage answers from. */
function versionsOf({ storages, asOf }: Question) {
  return asOf === undefined ? {} : { as_of: Object.fromEntries(storages.map(({ name }) => [name, asOf])) };
}

/** Ends an agent, and its turn. */
function end(session: DoorSession, agent_id: string): void {
  session.call('DestroyAgentRequest', { agent_id }).catch(() => {});
}

function graphOf({ storages, topK, filter }: Question, model: string | undefined) {
  const search = {
    ...(topK !== undefined && { top_k: topK }),
    ...(filter !== undefined && { filter }),
  };
  return {
    nodes: [
      ...storages.map(({ name }, index) => ({
        id: `search${index + 1}`,
        type: 'retrieve',
        params: { embedded_string_storage: name, ...search },
      })),
      model === undefined
        ? { id: 'answer', type: 'quote', params: { separator: '\n' } }
        : { id: 'answer', type: 'generate', params: { model, cite: 'marks', ...whenNothingIsFound } },
    ],
  };
}
