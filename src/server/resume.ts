import { fail, type ServerError, serverError } from '../protocol/errors.js';
import type { ServerFrames } from '../protocol/frames.js';
import { graphSchema } from '../protocol/graph.js';
import { errorFields, toServerError } from '../storages/failure.js';
import type { InTurn, KeptAgent } from '../storages/kept-sessions/session-store.js';
import { agentOptions } from './agent-options.js';
import type { HandlerContext } from './handler-context.js';
import { checkRight } from './rights.js';
import type { Session } from './session.js';
import { keptHistory, SessionKeeping } from './session-keeping.js';

type Kept = Pick<ServerFrames['CreateSessionResponse'], 'resume' | 'agents'>;

/** Bytes of a kept agent in the heap for each byte that is read: its rows, its texts, and their values. */
const heapPerByte = 4;

/**
 * Has a new session kept, or resumes the kept one of a secret in it.
 * @throws InvalidField without a session_store; RightMissing; as KeptSessions.create() and resume(); ClientMemoryExceeded, ServerMemoryExceeded
 */
export async function keepSession(
  context: HandlerContext,
  session: Session,
  secret: string | undefined,
): Promise<Kept> {
  const { services, sessions, account } = context;
  const store = services.keptSessions;
  const path = secret === undefined ? 'keep' : 'resume';
  if (store === undefined)
    fail(1004, `${path}: this server keeps no sessions; its config has no session_store`, { path });
  checkRight(sessions.rights, 'chat', path);
  // The wait is not cancelled when the session ends: what it has left must still be stored.
  const { signal } = new AbortController();
  const inTurn: InTurn = (work) => account.away(store.machine, signal, work);
  const onTaken = (reason: ServerError) => sessions.endTaken(session.id, reason);
  if (secret === undefined) {
    const kept = await store.create(sessions.address, inTurn);
    session.keeping = new SessionKeeping(kept, onTaken);
    return { resume: session.keeping.secret };
  }
  const memory = account.memory.hold('sessions');
  try {
    const reserve = (bytes: number) =>
      memory.add({ heap: heapPerByte * bytes }, 'the session was not resumed');
    const resumed = await store.resume(secret, reserve, inTurn);
    session.keeping = new SessionKeeping(resumed.session, onTaken);
    const agents: NonNullable<Kept['agents']> = [];
    for (const agent of resumed.agents) agents.push(await reopen(agent, session, context));
    return { resume: session.keeping.secret, agents };
  } finally {
    memory.release();
  }
}

/** Opens a kept agent. One that cannot be opened waits for a CreateAgentRequest. */
async function reopen(
  agent: KeptAgent,
  session: Session,
  { services, client, attended }: HandlerContext,
): Promise<NonNullable<Kept['agents']>[number]> {
  const { number: kept, diagnostics } = agent;
  const turns = agent.turns.length;
  const keeping = session.keeping as SessionKeeping;
  try {
    if (agent.graph === undefined)
      throw serverError(
        2017,
        `resume: the graph of the kept agent ${kept} has a memory and is not kept; send it`,
        {},
      );
    const graph = graphSchema.parse(JSON.parse(agent.graph));
    const history = await keptHistory(agent);
    const options = { ...agentOptions(services, client, diagnostics), keeper: keeping.keeperOf(agent) };
    const { id } = await session.createAgent(graph, options, history, attended);
    return { kept, turns, agent_id: id };
  } catch (error) {
    keeping.wait(agent);
    return { kept, turns, error: errorFields(toServerError(error)) };
  }
}
