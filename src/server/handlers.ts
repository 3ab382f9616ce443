import { toServerError } from '../failure/failure.js';
import { fail, serverError } from '../protocol/errors.js';
import type { Replies, Requests, RequestType, ServerFrame, ServerFrames } from '../protocol/frames.js';
import type { Services } from './services.js';
import type { SessionTable } from './session-table.js';

/** What a handler may use of the connection that its request came from. */
export interface HandlerContext {
  readonly services: Services;
  readonly sessions: SessionTable;
  /** Sends an event, or a reply that must go out before the handler returns. */
  send(frame: ServerFrame): void;
}

/** A reply without the id that it answers, or undefined when the handler has sent it itself. */
export type Reply<Type extends RequestType> = Omit<ServerFrames[Replies[Type]], 'reply_to'> | undefined;

type Handler<Type extends RequestType> = (
  context: HandlerContext,
  request: Requests[Type],
) => Reply<Type> | Promise<Reply<Type>>;

/** One handler per request. Each starts at once: requests of one connection overlap. */
export const handlers: { readonly [Type in RequestType]: Handler<Type> } = {
  CreateSessionRequest({ sessions }, { storage_data_folder }) {
    if (storage_data_folder) {
      fail(1005, 'storage_data_folder: storages from files are not there yet, so a session has no folder', {
        path: 'storage_data_folder',
        feature: 'file-backed storages',
      });
    }
    return { type: 'CreateSessionResponse', session_id: sessions.create().id };
  },

  async DestroySessionRequest({ sessions }, { session_id }) {
    await sessions.destroy(session_id, serverError(2002, 'the session was destroyed'));
    return { type: 'Ack' };
  },

  async CreateEmbeddedStringStorageRequest({ sessions }, request) {
    const { storages } = sessions.get(request.session_id);
    const source = inlineSource(request);
    const { recordCount, dimension } = await storages.createInline(request.name, source);
    return {
      type: 'CreateEmbeddedStringStorageResponse',
      record_count: recordCount,
      embedding_dim: dimension,
    };
  },

  async DestroyEmbeddedStringStorageRequest({ sessions }, { session_id, name }) {
    await sessions.get(session_id).storages.destroy(name);
    return { type: 'Ack' };
  },

  async SearchEmbeddedStringStorageRequest({ sessions }, request) {
    const { hits, plan } = await sessions.get(request.session_id).search(request.name, request.text, request);
    return { type: 'SearchEmbeddedStringStorageResponse', hits, plan };
  },

  async CreateAgentRequest({ services, sessions }, { session_id, graph, enable_diagnostics }) {
    const includeInteraction = services.config.include_interaction_in_diagnostics;
    const options = { enableDiagnostics: enable_diagnostics, includeInteraction };
    return {
      type: 'CreateAgentResponse',
      agent_id: await sessions.get(session_id).createAgent(graph, options),
    };
  },

  async DestroyAgentRequest({ sessions }, { session_id, agent_id }) {
    await sessions.get(session_id).destroyAgent(agent_id);
    return { type: 'Ack' };
  },

  TurnRequest({ sessions, send }, { id, session_id, agent_id, text, variables }) {
    const complete = (frame: ServerFrames['TurnComplete']) => sendComplete(send, frame);
    const turn_id = sessions.get(session_id).startTurn(agent_id, { text, variables }, complete);
    send({ type: 'TurnStarted', reply_to: id, turn_id });
    return undefined;
  },

  CancelTurnRequest({ sessions }, { session_id, turn_id }) {
    sessions.get(session_id).cancelTurn(turn_id);
    return { type: 'Ack' };
  },

  Ping() {
    return { type: 'Pong' };
  },
};

/** Every turn ends with a TurnComplete: one whose diagnostics make it too large loses them, and says so. */
function sendComplete(send: HandlerContext['send'], frame: ServerFrames['TurnComplete']): void {
  try {
    send(frame);
  } catch (thrown) {
    const { code, name, message, details } = toServerError(thrown);
    const { type, turn_id } = frame;
    send({ type, turn_id, status: 'failed', text: '', error: { code, name, message, details } });
  }
}

/** @throws AmbiguousStorageSource, UnsupportedFeature, InvalidEmbeddedStringStorageData */
function inlineSource({
  config_path,
  strings,
  embedding_model,
}: Requests['CreateEmbeddedStringStorageRequest']) {
  if ((config_path === undefined) === (strings === undefined)) {
    const found = strings === undefined ? 'neither is set' : 'both are set';
    fail(8004, `config_path, strings: exactly one of them is expected, and ${found}`);
  }
  if (strings === undefined) {
    fail(1005, 'config_path: storages from files are not there yet; send the texts as strings', {
      path: 'config_path',
      feature: 'file-backed storages',
    });
  }
  if (embedding_model === undefined) {
    fail(8003, 'embedding_model: is missing; strings need the catalog name of an embedding model');
  }
  return { strings, embeddingModel: embedding_model };
}
