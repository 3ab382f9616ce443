import { z } from 'zod';
import type { DoorHost } from './host.js';
import { HttpListener } from './http/listener.js';
import type { Route } from './http/route.js';
import { answerFirstMessages } from './mcp/first-message.js';
import { mcpRoute } from './mcp/route.js';
import { chatRoute } from './openai/chat.js';
import { embeddingsRoute } from './openai/embeddings.js';
import { modelRoutes } from './openai/models.js';
import { rerankRoute } from './openai/rerank.js';
import { responsesRoute } from './openai/responses.js';
import { Targets } from './openai/targets.js';
import { askRoute } from './page/ask.js';
import { documentRoute as pageDocumentRoute } from './page/document.js';
import { type OpenPage, PageEntry } from './page/entry.js';
import { pageFileRoutes } from './page/page-files.js';
import { pageStateRoutes } from './page/page-state.js';
import { openApiDocument } from './rest/openapi.js';
import { recordRoutes } from './rest/records.js';
import { searchRoute } from './rest/search.js';
import { storageRoutes } from './rest/storages.js';
import { socketDoor } from './socket/socket-door.js';

/** The doors over HTTP: REST, the API of OpenAI, MCP, and WebSocket. Off unless `http.enabled`; their code is loaded then. */
export class HttpDoors {
  /** The page for people; undefined if it is off. */
  readonly page: OpenPage | undefined;
  readonly #listener: HttpListener;

  private constructor(listener: HttpListener, page: OpenPage | undefined) {
    this.#listener = listener;
    this.page = page;
  }

  /** @throws StartupError for a busy port, or a file of the config that cannot be read */
  static async open(host: DoorHost): Promise<HttpDoors> {
    const targets = await Targets.read(host);
    const routes: Route[] = [
      searchRoute,
      ...storageRoutes,
      ...recordRoutes,
      ...modelRoutes(targets),
      chatRoute(targets),
      responsesRoute(targets),
      embeddingsRoute(targets),
      rerankRoute(targets),
    ];
    const described: Route[] = [...routes, mcpRoute(host), documentRoute(() => document)];
    const document = openApiDocument(described, host.version);
    const entry = host.config.http.page ? new PageEntry() : undefined;
    const page = entry === undefined ? [] : await pageRoutes(entry, targets);
    await answerFirstMessages();
    const listener = await HttpListener.open({
      host,
      routes: [...described, ...page],
      upgrades: { '/v1/socket': socketDoor(host) },
    });
    const { bind, tls_cert } = host.config.http;
    const address = bind.includes(':') ? `[${bind}]` : bind;
    const url = `${tls_cert === '' ? 'http' : 'https'}://${address}:${listener.port}/`;
    host.log.info({ url, page: entry !== undefined }, 'http: listening');
    return new HttpDoors(listener, entry && { url, entry });
  }

  get port(): number {
    return this.#listener.port;
  }

  /** Accepts no further connections. */
  stopAccepting(): void {
    this.#listener.stopAccepting();
  }

  close(): Promise<void> {
    this.page?.entry.close();
    return this.#listener.close();
  }
}

/** The routes of the page for people. @throws StartupError if the package is without it */
const pageRoutes = async (entry: PageEntry, targets: Targets): Promise<Route[]> => [
  ...(await pageFileRoutes(entry)),
  ...pageStateRoutes(targets),
  pageDocumentRoute,
  askRoute(targets),
];

const documentRoute = (document: () => object): Route => ({
  method: 'GET',
  path: '/openapi.json',
  right: undefined,
  operation: 'get_openapi_document',
  summary: 'Returns this document.',
  reply: z.looseObject({ openapi: z.string(), paths: z.looseObject({}) }),
  serve: (exchange) => exchange.sendJson(document()),
});
