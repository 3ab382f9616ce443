import { type ClientAgent, connect, type Graph, type StartedServer, startServer } from 'lorekeep/client';

/** Finds what was said before, quotes it, and remembers what is said now. With a language model: `generate` for `quote`. */
const graph = (secret: string | undefined): Graph => ({
  nodes: [
    {
      id: 'recall',
      type: 'retrieve',
      params: { embeddedStringStorage: 'memory', mode: 'dense', recency: {} },
    },
    { id: 'answer', type: 'quote', params: { fallback: 'I have not heard of that.', maxSentences: 1 } },
    {
      id: 'keep',
      type: 'remember',
      params: {
        storage: 'memory',
        embeddingModel: 'all-MiniLM-L6-v2',
        scope: 'agent',
        speakers: ['user'],
        ...(secret !== undefined && { secret }),
      },
    },
  ],
});

export interface AssistantOptions {
  /** Folder for all that the server writes: memories, logs, models. */
  readonly dataDir: string;
  /** Opens the memory of an earlier run. */
  readonly secret: string | undefined;
  /** Called with the secret of a new memory, once: keep it. */
  readonly keepSecret: (secret: string) => void;
}

/** A server of this app alone, and an agent of it that remembers. */
export class Assistant {
  readonly #server: StartedServer;
  readonly #agent: ClientAgent;
  readonly #close: () => Promise<void>;

  private constructor(server: StartedServer, agent: ClientAgent, close: () => Promise<void>) {
    this.#server = server;
    this.#agent = agent;
    this.#close = close;
  }

  static async start({ dataDir, secret, keepSecret }: AssistantOptions): Promise<Assistant> {
    // A cold disk and a virus scanner take their time.
    const server = await startServer({ dataDir, timeoutMs: 120_000 });
    try {
      const client = await connect(server);
      const agent = await (await client.createSession()).createAgent({ graph: graph(secret) });
      const [memory] = agent.memories;
      if (memory?.secret !== undefined) keepSecret(memory.secret);
      return new Assistant(server, agent, () => client.close());
    } catch (error) {
      await server.close();
      throw error;
    }
  }

  /** Resolves when the server has ended, for any reason. */
  get ended(): Promise<unknown> {
    return this.#server.exited;
  }

  /** Streams the reply to `hear`. Aborting cancels the turn. */
  async ask(text: string, hear: (piece: string) => void, signal: AbortSignal): Promise<void> {
    for await (const event of this.#agent.stream(text, { signal })) {
      if (event.type === 'TurnText' && event.kind === 'reply') hear(event.text);
      if (event.type === 'TurnComplete' && event.error) throw new Error(event.error.message);
    }
  }

  /** Ends the connection, then the server; work under way may finish. */
  async close(): Promise<void> {
    await this.#close();
    await this.#server.close();
  }
}
