import type { DoorHost } from './host.js';
import { HttpListener } from './http/listener.js';
import type { Route } from './http/route.js';
import { chatRoute } from './openai/chat.js';
import { embeddingsRoute } from './openai/embeddings.js';
import { modelRoutes } from './openai/models.js';
import { rerankRoute } from './openai/rerank.js';
import { responsesRoute } from './openai/responses.js';
import { Targets } from './openai/targets.js';
import { openApiDocument } from './rest/openapi.js';
import { searchRoute } from './rest/search.js';
import { storageRoutes } from './rest/storages.js';
import { socketDoor } from './socket/socket-door.js';

/** The doors over HTTP: REST, the API of OpenAI, and WebSocket. Off unless `http.enabled`; their code is loaded then. */
export class HttpDoors {
  readonly #listener: HttpListener;

  private constructor(listener: HttpListener) {
    this.#listener = listener;
  }

  /** @throws StartupError for a busy port, or a file of the config that cannot be read */
  static async open(host: DoorHost): Promise<HttpDoors> {
    const targets = await Targets.read(host);
    const routes: Route[] = [
      searchRoute,
      ...storageRoutes,
      ...modelRoutes(targets),
      chatRoute(targets),
      responsesRoute(targets),
      embeddingsRoute(targets),
      rerankRoute(targets),
    ];
    const document = openApiDocument(routes, host.version);
    const listener = await HttpListener.open({
      host,
      routes: [...routes, documentRoute(document)],
      upgrades: { '/v1/socket': socketDoor(host) },
    });
    const { bind, tls_cert } = host.config.http;
    const address = bind.includes(':') ? `[${bind}]` : bind;
    const url = `${tls_cert === '' ? 'http' : 'https'}://${address}:${listener.port}/`;
    host.log.info({ url }, 'http: listening');
    return new HttpDoors(listener);
  }

  get port(): number {
    return this.#listener.port;
  }

  /** Accepts no further connections. */
  stopAccepting(): void {
    this.#listener.stopAccepting();
  }

  close(): Promise<void> {
    return this.#listener.close();
  }
}

const documentRoute = (document: object): Route => ({
  method: 'GET',
  path: '/openapi.json',
  right: undefined,
  operation: 'openapi',
  summary: 'Returns this document.',
  serve: (exchange) => exchange.sendJson(document),
});
