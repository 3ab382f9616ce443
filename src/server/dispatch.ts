import { errorFields, isDefect, toServerError } from '../failure/failure.js';
import { type LogContext, withLogContext } from '../log/context.js';
import { serverError } from '../protocol/errors.js';
import type { RequestId, Requests, RequestType } from '../protocol/frames.js';
import { type HandlerContext, handlers } from './handlers.js';

type Request = Requests[RequestType];

/** A reply or an error without the request's id; undefined if the handler has sent it. */
type Answer = object | undefined;

/**
 * Runs the handler of a request. Its log lines name the client, session, agent and turn. A defect is logged here with its
 * stack and ends only this request. A stopping server accepts only requests that end something. Never rejects.
 */
export function dispatch(context: HandlerContext, request: Request): Promise<Answer> {
  return withLogContext({ client: context.client, ...subjects(request) }, async () => {
    const { activity, log, observer } = context.services;
    const end = activity.begin();
    const started = observer && performance.now();
    let code: number | undefined;
    try {
      if (activity.stopping && !endsSomething.has(request.type))
        throw serverError(1008, 'the server is stopping');
      // Awaited, so that the error of a handler that throws at once is not sent before earlier replies.
      const handler = async () =>
        (handlers[request.type] as (context: HandlerContext, request: Request) => unknown)(context, request);
      return (await handler()) as Answer;
    } catch (thrown) {
      const error = toServerError(thrown);
      code = error.code;
      if (isDefect(error))
        log.error({ err: thrown, request: request.type, id: ownNumber(request.id) }, 'request failed');
      else log.debug({ request: request.type, code: error.code }, 'request refused');
      return { type: 'Error', ...errorFields(error) };
    } finally {
      if (started !== undefined)
        observer?.request?.({ type: request.type, code, durationMs: performance.now() - started });
      end();
    }
  });
}

const endsSomething: ReadonlySet<RequestType> = new Set([
  'CancelPullRequest',
  'CancelTurnRequest',
  'DestroyAgentRequest',
  'DestroyEmbeddedStringStorageRequest',
  'DestroySessionRequest',
  'Ping',
]);

/** Returns a numeric request id; a string chosen by the client is not logged. */
const ownNumber = (id: RequestId) => (typeof id === 'number' ? id : undefined);

/** Ids made by this server. Anything else is a client's text, which is not logged. */
const ownId = /^s\d{1,15}(\.[at]\d{1,15})?$/;

function subjects(request: Request): LogContext {
  const { session_id, agent_id, turn_id } = request as Record<string, unknown>;
  const known = (id: unknown) => (typeof id === 'string' && ownId.test(id) ? id : undefined);
  return { session: known(session_id), agent: known(agent_id), turn: known(turn_id) };
}
