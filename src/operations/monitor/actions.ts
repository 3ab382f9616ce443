import { z } from 'zod';
import { ServerError } from '../../protocol/errors.js';
import { bearer } from '../http/guard.js';
import { type Route, sendJson } from '../http/local-server.js';
import { jsonBody } from './json-body.js';

/** What the page can do to the server. Each returns why it cannot be done; undefined: it is done. */
export interface MonitorActions {
  /** Whether they need the access token or a key. */
  readonly needSecret: boolean;
  /** @throws ServerError unless the client may act */
  admit(address: string, secret: string | undefined): void;
  closeStorage(name: string): Promise<string | undefined>;
  unloadModel(name: string): Promise<string | undefined>;
}

const body = z.strictObject({ name: z.string().min(1).max(4096) });

/** HTTP statuses of the errors of admit(). */
const statuses: Readonly<Record<number, number>> = { 2010: 401, 2011: 401, 2012: 429, 2013: 403 };

export const actionRoutes = (actions: MonitorActions): Record<string, Route> => ({
  'POST /api/storages/close': route(actions, (name) => actions.closeStorage(name)),
  'POST /api/models/unload': route(actions, (name) => actions.unloadModel(name)),
});

const route =
  (actions: MonitorActions, act: (name: string) => Promise<string | undefined>): Route =>
  async (request, response) => {
    try {
      actions.admit(request.socket.remoteAddress ?? '', bearer(request));
    } catch (error) {
      const status = error instanceof ServerError ? statuses[error.code] : undefined;
      if (status === undefined) throw error;
      // The connection is closed: the body was not read.
      response.setHeader('connection', 'close');
      const { retry_after_ms: ms } = (error as ServerError).details as { retry_after_ms?: number };
      if (ms !== undefined) response.setHeader('retry-after', Math.ceil(ms / 1000));
      return sendJson(response, { error: (error as ServerError).messageAbout('Authorization') }, status);
    }
    const given = await jsonBody(request, response, body);
    if (given === undefined) return;
    const problem = await act(given.name);
    if (problem === undefined) sendJson(response, {});
    else sendJson(response, { error: problem }, 409);
  };
