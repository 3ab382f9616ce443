import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { onTestFinished } from 'vitest';

export interface Batch {
  path: string;
  headers: IncomingMessage['headers'];
  body: { api_key: string; batch: Record<string, unknown>[]; sent_at: string };
}

type Answer = (response: ServerResponse, batch: Batch, index: number) => void;

/** An ingest server on loopback that records every request. `answer` decides the reply; by default 200. */
export class Ingest {
  readonly batches: Batch[] = [];
  #waiting: (() => void)[] = [];

  private constructor(
    readonly url: string,
    private connected: { count: number },
  ) {}

  static async listen(answer: Answer = (response) => response.end('{"status":1}')): Promise<Ingest> {
    const connected = { count: 0 };
    let ingest: Ingest | undefined;
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const bytes = Buffer.concat(chunks);
      const text = request.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes;
      const batch = { path: request.url ?? '', headers: request.headers, body: JSON.parse(text.toString()) };
      ingest?.batches.push(batch);
      answer(response, batch, (ingest?.batches.length ?? 1) - 1);
      for (const wake of ingest?.takeWaiting() ?? []) wake();
    });
    server.on('connection', () => connected.count++);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    ingest = new Ingest(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, connected);
    return ingest;
  }

  get connections(): number {
    return this.connected.count;
  }

  /** The events of all requests, in order. */
  get events(): Record<string, unknown>[] {
    return this.batches.flatMap(({ body }) => body.batch);
  }

  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  private takeWaiting(): (() => void)[] {
    return this.#waiting.splice(0);
  }
}
