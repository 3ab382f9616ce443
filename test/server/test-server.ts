import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { z } from 'zod';
import { type Client, type ClientSession, connect, type Graph } from '../../src/client/index.js';
import { configSchema } from '../../src/config/schema.js';
import { type Log, silentLog } from '../../src/log/log.js';
import type { LogTail } from '../../src/operations/monitor/log-tail.js';
import type { ConnectionLimits } from '../../src/server/connection-limits.js';
import { LorekeepServer, type ServerOptions } from '../../src/server/server.js';
import { createTinyModel } from '../helpers/tiny-model/tiny-model.mjs';
import { contextSize, corpus, dimension } from './corpus.js';
import { RawClient } from './raw-client.js';

const folder = mkdtempSync(join(tmpdir(), 'lorekeep-server-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));

/** Path of a catalog with a model that works ("tiny"), others that do not, and a file that is no embedding model. */
export const catalogPath: string = join(folder, 'models.json');

let modelMade: Promise<unknown> | undefined;

async function makeModel(): Promise<void> {
  const texts = corpus.flatMap(({ text, question }) => [text, question]);
  await createTinyModel({ texts, path: join(folder, 'tiny.gguf'), dimension, contextSize });
  writeFileSync(join(folder, 'damaged.gguf'), 'this is not a model');
  const embedding = (name: string, variant: object) => ({
    name,
    model_type: 'embedding',
    variants: [variant],
  });
  const models = [
    embedding('tiny', { file: 'tiny.gguf' }),
    { ...embedding('prefixed', { file: 'tiny.gguf' }), query_prefix: 'bees ', document_prefix: 'glaciers ' },
    {
      ...embedding('weighted', { file: 'tiny.gguf' }),
      fusion: { dense: 0, lexical: 7, k: 2, by_tokenizer: { enhanced: { lexical: 9 } } },
    },
    { ...embedding('narrow', { file: 'tiny.gguf' }), dimension: dimension + 1 },
    embedding('damaged', { file: 'damaged.gguf' }),
    embedding('absent', { file: 'absent.gguf' }),
    embedding('remote', { url: 'https://example.test/remote' }),
    { name: 'talker', model_type: 'llm', variants: [{ file: 'tiny.gguf' }] },
  ];
  writeFileSync(catalogPath, JSON.stringify({ version: 1, models }));
}

export interface TestServerOptions {
  /** Fields of the config file. */
  config?: z.input<typeof configSchema>;
  limits?: Partial<ConnectionLimits>;
  log?: Log;
  logTail?: LogTail;
  configFile?: string;
  accessToken?: string;
  page?: ServerOptions['page'];
  configIsFound?: boolean;
  onIdle?: () => void;
  loadLanguageModel?: ServerOptions['loadLanguageModel'];
  loadRecogniser?: ServerOptions['loadRecogniser'];
}

/** A real server on a free port, closed when the test has finished. */
export class TestServer {
  readonly server: LorekeepServer;

  private constructor(server: LorekeepServer) {
    this.server = server;
  }

  static async start({
    config = {},
    limits = {},
    log = silentLog(),
    ...rest
  }: TestServerOptions = {}): Promise<TestServer> {
    modelMade ??= makeModel();
    await modelMade;
    const own = { port: 0, models_catalog_path: catalogPath, memories_dir: join(folder, 'memories') };
    const parsed = configSchema.parse({ ...own, ...config });
    const server = await LorekeepServer.start({ config: parsed, log, limits, ...rest });
    onTestFinished(() => server.close());
    return new TestServer(server);
  }

  get port(): number {
    return this.server.port;
  }

  /** Connects with the real client. */
  async connect(): Promise<Client> {
    const client = await connect({ port: this.port });
    onTestFinished(() => client.close());
    return client;
  }

  async session(): Promise<ClientSession> {
    return (await this.connect()).createSession();
  }

  /** Connects with a client that sends whatever it is told, past the server's greeting. */
  async raw(): Promise<RawClient> {
    const client = await RawClient.connect(this.port);
    onTestFinished(() => client.destroy());
    await client.next((frame) => frame.type === 'Hello');
    return client;
  }
}

/** A graph of one Retrieve node on the storage "docs". */
export const retrieveGraph = (params: object = {}): Graph => ({
  nodes: [{ id: 'kb', type: 'retrieve', params: { embedded_string_storage: 'docs', ...params } }],
});
