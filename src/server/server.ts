import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { NodeLists } from '../agents/lists/node-lists.js';
import { Catalog } from '../catalog/catalog.js';
import { EmbeddingModels } from '../catalog/embedding-models.js';
import { homeFolder, packageVersion } from '../config/home.js';
import type { ServerConfig } from '../config/schema.js';
import { StartupError } from '../config/startup-error.js';
import type { EntryFacts } from '../knowledge/index.js';
import type { Log } from '../log/log.js';
import { serverError } from '../protocol/errors.js';
import { FileStorages } from '../storages/file-storages.js';
import { StorageRoot } from '../storages/storage-root.js';
import { Connection, type ConnectionLimits, defaultLimits } from './connection.js';
import type { Services } from './services.js';

/** The only interface that this version listens on. */
const host = '127.0.0.1';

export interface ServerOptions {
  config: ServerConfig;
  log: Log;
  limits?: Partial<ConnectionLimits>;
}

/** The composition root: makes the parts of a server, listens, and takes all of it down again. */
export class LorekeepServer {
  readonly #listener: Server;
  readonly #services: Services;
  readonly #limits: ConnectionLimits;
  readonly #connections = new Set<Connection>();
  #closing: Promise<void> | undefined;

  private constructor(services: Services, limits: ConnectionLimits) {
    this.#services = services;
    this.#limits = limits;
    this.#listener = createServer((socket) => this.#accept(socket));
  }

  /** Resolves when clients can connect. @throws StartupError: a busy port, a missing or invalid catalog */
  static async start({ config, log, limits }: ServerOptions): Promise<LorekeepServer> {
    const catalog = await Catalog.load(config.models_catalog_path);
    for (const warning of catalog.warnings) log.warn(warning);
    const models = new EmbeddingModels(catalog, log);
    let sessions = 0;
    const services = {
      config,
      models,
      files: new FileStorages({ models, log }),
      lists: new NodeLists(config),
      root: new StorageRoot(config.storage_root || homeFolder),
      log,
      version: packageVersion,
      nextSessionId: () => `s${++sessions}`,
    };
    const { frame_timeout_ms: frameMs, unread_timeout_ms: stallMs } = config.limits;
    const server = new LorekeepServer(services, { ...defaultLimits, frameMs, stallMs, ...limits });
    await server.#listen(config.port);
    log.info({ host, port: server.port, embeddingModels: models.names }, 'listening');
    return server;
  }

  /** The port that it listens on, also when the config said 0. */
  get port(): number {
    return (this.#listener.address() as AddressInfo).port;
  }

  /** Connections whose sessions may still hold something. */
  get connections(): number {
    return this.#connections.size;
  }

  /** State, holders and weight of the storages from files. */
  get storages(): EntryFacts[] {
    return this.#services.files.entries();
  }

  /** Takes no more clients, ends every session, and closes the models. Calling it again waits for the same end. */
  close(): Promise<void> {
    this.#closing ??= this.#shutDown();
    return this.#closing;
  }

  #accept(socket: Socket): void {
    const connection = new Connection(socket, this.#services, this.#limits);
    this.#connections.add(connection);
    void connection.closed.finally(() => this.#connections.delete(connection));
  }

  async #listen(port: number): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#listener.once('error', (error) => reject(listenError(error, port)));
      this.#listener.listen({ host, port, exclusive: true }, resolve);
    });
  }

  async #shutDown(): Promise<void> {
    const reason = serverError(1008, 'the server is stopping');
    const unlistened = new Promise((resolve) => this.#listener.close(resolve));
    await Promise.all([...this.#connections].map((connection) => connection.close(reason)));
    await unlistened;
    await this.#services.files.close();
    await this.#services.models.close();
    this.#services.log.info('stopped');
  }
}

function listenError(error: NodeJS.ErrnoException, port: number): StartupError {
  if (error.code === 'EADDRINUSE') {
    return new StartupError(
      `port ${port} on ${host} is in use: stop the other program, or choose one with --port`,
    );
  }
  if (error.code === 'EACCES')
    return new StartupError(`port ${port} on ${host} needs more rights than this user has`);
  return new StartupError(`cannot listen on ${host}:${port}: ${error.message}`);
}
