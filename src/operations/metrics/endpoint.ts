import type { ServerConfig } from '../../config/schema.js';
import type { Log } from '../../log/log.js';
import { LocalServer, type Route, sendText } from '../http/local-server.js';
import type { OperatorShare } from '../http/operator-share.js';
import type { ServerMetrics } from './server-metrics.js';

/** `/metrics`, `/health` and `/ready`, for this port and the monitor's. */
export function metricsRoutes(
  metrics: ServerMetrics,
  isReady: () => boolean,
): Readonly<Record<string, Route>> {
  return {
    'GET /metrics': async (_, response) => {
      const text = await metrics.text();
      response.writeHead(200, { 'content-type': metrics.contentType }).end(text);
    },
    // Answers while the event loop runs; computations have their own threads.
    'GET /health': (_, response) => sendText(response, 200, 'ok'),
    'GET /ready': (_, response) =>
      isReady() ? sendText(response, 200, 'ready') : sendText(response, 503, 'stopping'),
  };
}

/** Opens the HTTP port of `metrics`. @throws StartupError */
export async function openMetrics(
  { bind, port, allow_remote }: ServerConfig['metrics'],
  routes: Readonly<Record<string, Route>>,
  { log, share }: { log: Log; share: OperatorShare },
): Promise<LocalServer> {
  const server = await LocalServer.open({
    name: 'metrics',
    bind,
    port,
    allowRemote: allow_remote,
    routes,
    log,
    share,
  });
  log.info({ url: `${server.url}metrics` }, 'metrics are served');
  return server;
}
