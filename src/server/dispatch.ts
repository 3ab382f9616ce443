import { sliceWatch } from '../base/waiting/slice-watch.js';
import { type LogFields, withWorkContext } from '../base/waiting/work-context.js';
import { serverError } from '../protocol/errors.js';
import type { RequestId, Requests, RequestType } from '../protocol/frames.js';
import { errorFrame, refusalOf } from '../storages/failure.js';
import type { HandlerContext } from './handler-context.js';
import { handlers } from './handlers.js';

type Request = Requests[RequestType];

/** A reply or an error without the request's id. Undefined if the handler has replied itself. */
type Answer = object | undefined;

/**
 * Runs the handler of a request in slices of its client. Its log lines name the client, session, agent and turn. A defect
 * is logged here with its stack and ends only this request. A stopping server accepts only requests that end something.
 * Never rejects.
 */
export function dispatch(context: HandlerContext, request: Request): Promise<Answer> {
  const { loop: slices, away } = context.account;
  const { type } = request;
  sliceWatch.note(type);
  return withWorkContext({ slices, away, request: type, log: logFields(context, request) }, () =>
    answer(context, request),
  );
}

async function answer(context: HandlerContext, request: Request): Promise<Answer> {
  const { activity, log, observer } = context.services;
  const end = activity.begin();
  const started = observer && performance.now();
  let code: number | undefined;
  try {
    if (activity.stopping && !endsSomething.has(request.type))
      throw serverError(1008, 'the server is stopping');
    return await called(context, request);
  } catch (thrown) {
    const error = refusalOf(thrown, log, { request: request.type, id: ownNumber(request.id) });
    code = error.code;
    return errorFrame(error);
  } finally {
    if (started !== undefined)
      observer?.request?.({ type: request.type, code, durationMs: performance.now() - started });
    end();
  }
}

/** A handler that throws at once rejects, so that it is not answered before earlier requests. */
function called(context: HandlerContext, request: Request): Answer | Promise<Answer> {
  try {
    const handler = handlers[request.type] as (context: HandlerContext, request: Request) => Answer;
    return handler(context, request);
  } catch (thrown) {
    return Promise.reject(thrown);
  }
}

const endsSomething: ReadonlySet<RequestType> = new Set([
  'CancelPullRequest',
  'CancelTurnRequest',
  'CloseSpeechRequest',
  'DestroyAgentRequest',
  'DestroyEmbeddedStringStorageRequest',
  'DestroySessionRequest',
  'EndUtteranceRequest',
  'FinishSpeechRequest',
  'Ping',
]);

/** Returns a numeric request id; a string chosen by the client is not logged. */
const ownNumber = (id: RequestId) => (typeof id === 'number' ? id : undefined);

/** Ids made by this server. Anything else is a client's text, which is not logged. */
const ownId = /^s\d{1,15}(\.[at]\d{1,15})?$/;

const known = (id: unknown) => (typeof id === 'string' && ownId.test(id) ? id : undefined);

function logFields({ client }: HandlerContext, request: Request): LogFields {
  const { session_id, agent_id, turn_id } = request as Record<string, unknown>;
  return { client, session: known(session_id), agent: known(agent_id), turn: known(turn_id) };
}
