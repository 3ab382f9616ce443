import { isDefect, toServerError } from '../failure/failure.js';
import { type LogContext, withLogContext } from '../log/context.js';
import { serverError } from '../protocol/errors.js';
import type { RequestId, Requests, RequestType, ServerFrame } from '../protocol/frames.js';
import { type HandlerContext, handlers } from './handlers.js';

type Request = Requests[RequestType];

/**
 * Runs the handler of a request. What it logs says whose request it is; a defect is logged here, with its stack, and ends
 * this request alone. A server that stops takes none but those that end something.
 * @throws ServerError
 */
export function dispatch(context: HandlerContext, request: Request): Promise<ServerFrame | undefined> {
  return withLogContext(subjects(request), async () => {
    const { activity, log } = context.services;
    if (activity.stopping && !endsSomething.has(request.type)) {
      throw serverError(1008, 'the server is stopping');
    }
    const end = activity.begin();
    try {
      // Async, so that a handler that throws at once is not answered before the requests that came before it.
      const handler = async () =>
        (handlers[request.type] as (context: HandlerContext, request: Request) => unknown)(context, request);
      return (await handler()) as ServerFrame | undefined;
    } catch (thrown) {
      const error = toServerError(thrown);
      if (isDefect(error))
        log.error({ err: thrown, request: request.type, id: ownNumber(request.id) }, 'request failed');
      else log.debug({ request: request.type, code: error.code }, 'request refused');
      throw error;
    } finally {
      end();
    }
  });
}

const endsSomething: ReadonlySet<RequestType> = new Set([
  'CancelTurnRequest',
  'DestroyAgentRequest',
  'DestroyEmbeddedStringStorageRequest',
  'DestroySessionRequest',
  'Ping',
]);

/** A request's id is the client's, and a string may be anything. */
const ownNumber = (id: RequestId) => (typeof id === 'number' ? id : undefined);

/** Ids that this server makes; anything else in their place is a client's text, which no line shows. */
const ownId = /^s\d{1,15}(\.[at]\d{1,15})?$/;

function subjects(request: Request): LogContext {
  const { session_id, agent_id, turn_id } = request as Record<string, unknown>;
  const known = (id: unknown) => (typeof id === 'string' && ownId.test(id) ? id : undefined);
  return { session: known(session_id), agent: known(agent_id), turn: known(turn_id) };
}
