import type { FilterExpression } from '../../lib/internal.js';
import { sessionFolders } from '../config/access.js';
import { fail, serverError } from '../protocol/errors.js';
import type { Replies, Requests, RequestType, ServerFrames } from '../protocol/frames.js';
import { getRecords, listRecords, type WriteRules } from '../storages/changes.js';
import { errorFields } from '../storages/failure.js';
import { checkFilterSize } from '../storages/search-limits.js';
import type { StorageFacts, StorageSet } from '../storages/storage-set.js';
import { wireHistories } from '../storages/wire.js';
import { agentOptions } from './agent-options.js';
import type { HandlerContext } from './handler-context.js';
import { listModels } from './model-requests.js';
import { keepSession } from './resume.js';
import type { Services } from './services.js';
import { keptHistory } from './session-keeping.js';
import { speechHandlers } from './speech/speech-handlers.js';

/** A reply without the request's id; undefined if the handler has sent it. */
type Reply<Type extends RequestType> = Omit<ServerFrames[Replies[Type]], 'reply_to'> | undefined;

type Handler<Type extends RequestType> = (
  context: HandlerContext,
  request: Requests[Type],
) => Reply<Type> | Promise<Reply<Type>>;

/** One handler per request. Each starts at once: requests of one connection overlap. */
export const handlers: { readonly [Type in RequestType]: Handler<Type> } = {
  async CreateSessionRequest(context, { storage_data_folder, access_token, keep, resume }) {
    const { sessions } = context;
    const session = await sessions.create(storage_data_folder || undefined, access_token);
    const created = { type: 'CreateSessionResponse', session_id: session.id } as const;
    if (!keep && resume === undefined) return created;
    try {
      return { ...created, ...(await keepSession(context, session, resume)) };
    } catch (error) {
      await sessions.destroy(session.id, serverError(2002, 'the session was not kept')).catch(() => {});
      throw error;
    }
  },

  async DestroySessionRequest({ sessions }, { session_id }) {
    const { keeping } = sessions.get(session_id);
    await sessions.destroy(session_id, serverError(2002, 'the session was destroyed'));
    await keeping?.remove();
    return { type: 'Ack' };
  },

  async CreateEmbeddedStringStorageRequest({ sessions }, request) {
    const { storages } = sessions.get(request.session_id);
    const { recordCount, dimension, outdated } = await createStorage(storages, request);
    return {
      type: 'CreateEmbeddedStringStorageResponse',
      record_count: recordCount,
      embedding_dim: dimension,
      ...(outdated && request.stale === 'serve' && { stale: true }),
    };
  },

  async DestroyEmbeddedStringStorageRequest({ sessions }, { session_id, name }) {
    await sessions.get(session_id).storages.destroy(name);
    return { type: 'Ack' };
  },

  async UpdateEmbeddedStringStorageRequest({ services, sessions }, request) {
    const { session_id, name, add, replace, remove, upsert, if_version: ifVersion } = request;
    const changes = { add, replace, remove, upsert, ...(ifVersion !== undefined && { ifVersion }) };
    const { size, ...counts } = await sessions.get(session_id).change(name, changes, writeRules(services));
    return { type: 'UpdateEmbeddedStringStorageResponse', ...counts, record_count: size };
  },

  async GetEmbeddedStringStorageRequest({ sessions, send }, { id, session_id, name, ids, as_of: asOf }) {
    const type = 'GetEmbeddedStringStorageResponse';
    await sessions.get(session_id).read(
      { name, asOf, records: ids.length },
      (storage, signal) => getRecords(storage, ids, signal),
      (found) => send({ type, reply_to: id, ...found }),
    );
    return undefined;
  },

  async ListEmbeddedStringStorageRequest({ sessions, send }, request) {
    const { id, session_id, name, filter, variables, offset, limit, as_of: asOf } = request;
    const type = 'ListEmbeddedStringStorageResponse';
    checkFilterSize(filter, { fields: '', invalid: 1004 });
    const which = filter === undefined ? {} : { filter: filter as FilterExpression, variables };
    await sessions.get(session_id).read(
      { name, asOf, records: limit },
      (storage, signal) => listRecords(storage, { ...which, offset, limit }, signal),
      (found) => send({ type, reply_to: id, ...found }),
    );
    return undefined;
  },

  async ForgetEmbeddedStringStorageRequest({ services, sessions }, { session_id, name, ids, histories }) {
    const rules = writeRules(services);
    const done = await sessions.get(session_id).forget(name, { ids, histories }, rules);
    return {
      type: 'ForgetEmbeddedStringStorageResponse',
      version: done.version,
      forgotten: done.removed,
      record_count: done.size,
      histories: wireHistories(done.histories),
    };
  },

  async SearchEmbeddedStringStorageRequest({ sessions, send }, request) {
    const type = 'SearchEmbeddedStringStorageResponse';
    await sessions
      .get(request.session_id)
      .search(request, ({ version, hits, plan, plans, stale }) =>
        send({ type, reply_to: request.id, version, hits, plan, plans, ...(stale && { stale: true }) }),
      );
    return undefined;
  },

  async CreateAgentRequest(
    { client, services, sessions, attended },
    { session_id, graph, enable_diagnostics: diagnostics, history, kept },
  ) {
    const session = sessions.get(session_id);
    const { keeping } = session;
    if (kept !== undefined && keeping === undefined)
      fail(1004, 'kept: the session is not kept', { path: 'kept' });
    const waiting = kept === undefined ? undefined : keeping?.take(kept);
    try {
      const earlier = history ?? (waiting && (await keptHistory(waiting)));
      const keeper = keeping?.keeper(graph, diagnostics, kept);
      const options = { ...agentOptions(services, client, diagnostics), keeper };
      const { id, memories, notKept } = await session.createAgent(graph, options, earlier, attended);
      return {
        type: 'CreateAgentResponse',
        agent_id: id,
        ...(memories.length > 0 && { memories: [...memories] }),
        ...(keeper !== undefined && { kept: keeper.number }),
        ...(notKept !== undefined && { not_kept: errorFields(notKept) }),
      };
    } catch (error) {
      if (waiting !== undefined) keeping?.wait(waiting);
      throw error;
    }
  },

  async ExportAgentRequest({ sessions, send }, { id, session_id, agent_id }) {
    await sessions
      .get(session_id)
      .exportAgent(agent_id, (history) => send({ type: 'ExportAgentResponse', reply_to: id, history }));
    return undefined;
  },

  async DestroyAgentRequest({ sessions }, { session_id, agent_id }) {
    await sessions.get(session_id).destroyAgent(agent_id);
    return { type: 'Ack' };
  },

  TurnRequest(
    { services, sessions, send, holdRequest, attended },
    {
      id,
      session_id,
      agent_id,
      text,
      variables,
      action_result: actionResult,
      hits,
      dry_run: dryRun,
      as_of: asOf,
    },
  ) {
    const turn = sessions
      .get(session_id)
      .startTurn(agent_id, { text, variables, actionResult, hits, dryRun, asOf }, send, attended);
    holdRequest(turn.ended);
    const end = services.activity.begin();
    void turn.ended.then(end, end);
    send({ type: 'TurnStarted', reply_to: id, turn_id: turn.id });
    return undefined;
  },

  ConfirmForgetRequest({ sessions }, { session_id, forget_id, confirm, ids, histories }) {
    sessions.get(session_id).confirmForget(forget_id, confirm, { ids, histories });
    return { type: 'Ack' };
  },

  ...speechHandlers,

  ListModelsRequest({ services, sessions }, { session_id }) {
    sessions.get(session_id);
    return listModels(services);
  },

  PullModelRequest({ sessions, account, send }, { id, session_id, model, variant }) {
    return sessions
      .get(session_id)
      .pulls.pull({ id, model, variant }, { send, maySend: (signal) => account.send(signal) });
  },

  CancelPullRequest({ sessions }, { session_id, model }) {
    sessions.get(session_id).pulls.cancel(model);
    return { type: 'Ack' };
  },

  CancelTurnRequest({ sessions }, { session_id, turn_id }) {
    sessions.get(session_id).cancelTurn(turn_id);
    return { type: 'Ack' };
  },

  StatusRequest({ services, sessions, account }) {
    const { max_connections, max_sessions_per_connection } = services.config.limits;
    return {
      type: 'StatusResponse',
      connections: services.slots.total,
      connections_limit: max_connections,
      sessions: sessions.size,
      sessions_limit: max_sessions_per_connection,
      throttle: services.throttle.level,
      client: account.memory.ledger.status,
      server: services.memory.ledger.status,
    };
  },

  ThrottleReport({ sessions, throttle }, { level }) {
    sessions.checkAdmitted();
    throttle.report(level);
    return { type: 'Ack' };
  },

  async VideoMemoryRequest({ sessions, videoMemory }, { allowed }) {
    sessions.checkAdmitted();
    await videoMemory.allow(allowed);
    return { type: 'Ack' };
  },

  Ping() {
    return { type: 'Pong' };
  },
};

/** What the operator allows now: a reload may change it. */
export function writeRules({ config }: Pick<Services, 'config'>): WriteRules {
  return {
    writes: config.storage_writes,
    anyFolder: sessionFolders(config) === 'any',
    readOnly: config.read_only_storages,
  };
}

/** @throws AmbiguousStorageSource and as StorageSet does */
async function createStorage(
  storages: StorageSet,
  request: Requests['CreateEmbeddedStringStorageRequest'],
): Promise<StorageFacts> {
  const { name, config_path, strings, records, fields, embedding_model, stale } = request;
  const set = Object.entries({ config_path, strings, records })
    .filter(([, value]) => value !== undefined)
    .map(([field]) => field);
  if (set.length !== 1) {
    const found = set.length === 0 ? 'none is set' : `${set.join(' and ')} are set`;
    fail(8004, `config_path, strings, records: exactly one of them is expected, and ${found}`, { set });
  }
  if (fields !== undefined && records === undefined) {
    const reason =
      config_path === undefined ? 'strings have no metadata; use records' : 'the config has its own';
    fail(1004, `fields: they have no effect: ${reason}`, { path: 'fields' });
  }
  if (config_path !== undefined) return storages.createFromFile(name, config_path, stale);
  if (embedding_model === undefined) {
    const message = `is missing; ${set[0]} need the catalog name of an embedding model`;
    fail(8003, `embedding_model: ${message}`, { path: 'embedding_model' });
  }
  return storages.createInline(name, { strings, records, fields, embeddingModel: embedding_model });
}
