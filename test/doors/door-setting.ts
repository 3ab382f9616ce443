import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { z } from 'zod';
import type { configSchema } from '../../src/config/schema.js';
import { corpus } from '../server/corpus.js';
import { TestServer, type TestServerOptions } from '../server/test-server.js';

type HttpConfig = NonNullable<z.input<typeof configSchema>['http']>;

/** Writes a knowledge base of the corpus, and returns the path of its config. */
export function knowledgeBase(folder: string, name = 'kb'): string {
  mkdirSync(folder, { recursive: true });
  // Integers that a JavaScript number cannot hold.
  const records = corpus.map(
    ({ text }, n) =>
      `{"id":"r${n}","text":${JSON.stringify(text)},"metadata":{"n":${n},"big":9007199254741${101 + 2 * n}}}`,
  );
  writeFileSync(join(folder, `${name}-records.json`), `[${records.join(',')}]`);
  const config = {
    version: 1,
    embedding_model: 'tiny',
    records_file: `${name}-records.json`,
    fields: [
      { name: 'n', type: 'int', default: 0 },
      { name: 'big', type: 'int', optional: true },
    ],
  };
  const path = join(folder, `${name}.json`);
  writeFileSync(path, JSON.stringify(config));
  return path;
}

// biome-ignore lint/suspicious/noExplicitAny: JSON of any shape, which a test compares.
export type Json = any;

export interface Reply {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
  json(): Json;
}

export interface Door {
  readonly port: number;
  readonly server: TestServer;
  readonly folder: string;
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>;
}

/** A server with its HTTP doors open, and the storage `docs`. `writable`: as http.storages says of it. `more`: further storages. */
export async function door(
  http: HttpConfig = {},
  options: TestServerOptions = {},
  writable = false,
  more: HttpConfig['storages'] = {},
): Promise<Door> {
  const folder = mkdtempSync(join(tmpdir(), 'lorekeep-doors-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const storages = { docs: { config: knowledgeBase(join(folder, 'docs')), writable }, ...more };
  const server = await TestServer.start({
    ...options,
    config: { ...options.config, http: { enabled: true, port: 0, storages, ...http } },
  });
  const port = server.server.httpPort as number;
  return { port, server, folder, call: (...given) => call(port, ...given) };
}

/** Makes one request on a connection of its own. */
export function call(
  port: number,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const content = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        host: '127.0.0.1',
        port,
        method,
        path,
        agent: false,
        headers: {
          ...(content !== undefined && {
            'content-type': 'application/json',
            'content-length': String(Buffer.byteLength(content)),
          }),
          ...headers,
        },
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (piece: string) => {
          text += piece;
        });
        response.on('end', () =>
          resolve({
            status: response.statusCode as number,
            headers: response.headers,
            text,
            json: () => JSON.parse(text),
          }),
        );
      },
    );
    sent.on('error', reject).end(content);
  });
}
