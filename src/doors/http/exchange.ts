import type { IncomingMessage, ServerResponse } from 'node:http';
import type { z } from 'zod';
import { describeIssue, fieldIssue } from '../../base/schema/field-issue.js';
import { plainMessage } from '../../base/schema/messages.js';
import type { Grant } from '../../config/keys-file.js';
import { fail } from '../../protocol/errors.js';
import { isLong, jsonPieces } from '../../protocol/json-pieces.js';
import type { DoorClient, DoorHost, DoorSession } from '../host.js';
import { HttpRefusal } from './failure.js';
import type { SocketClient } from './socket-client.js';

/** Characters converted to bytes at once. */
const bufferedLength = 64 * 1024;

/** One request to a route, and its reply. */
export class Exchange {
  readonly host: DoorHost;
  readonly url: URL;
  readonly params: Readonly<Record<string, string>>;
  readonly grant: Grant;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #socketClient: SocketClient;
  readonly #gone = new AbortController();
  #session: DoorSession | undefined;
  readonly #releases: (() => void)[] = [];

  constructor(
    host: DoorHost,
    request: IncomingMessage,
    response: ServerResponse,
    socketClient: SocketClient,
    given: { url: URL; params: Readonly<Record<string, string>>; grant: Grant },
  ) {
    this.host = host;
    this.url = given.url;
    this.params = given.params;
    this.grant = given.grant;
    this.#request = request;
    this.#response = response;
    this.#socketClient = socketClient;
    response.once('close', () => {
      if (!response.writableFinished) this.#gone.abort();
      void this.end();
    });
  }

  get client(): DoorClient {
    return this.#socketClient.client;
  }

  /** Aborted when the client goes away before the reply has ended. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  header(name: string): string | undefined {
    const value = this.#request.headers[name];
    return typeof value === 'string' ? value : undefined;
  }

  /** The session of this request; it ends with the request. @throws as DoorClient.open() */
  get session(): DoorSession {
    this.#session ??= this.client.open(this.grant);
    return this.#session;
  }

  /**
   * Reads and checks the JSON body. Fields of the schema's own kind decide about unknown and null ones.
   * @throws HttpRefusal, MalformedFrame, InvalidField, ClientMemoryExceeded, ServerMemoryExceeded
   */
  async body<Schema extends z.ZodType>(schema: Schema): Promise<z.output<Schema>> {
    const parsed = await this.client.parse(await this.#bytes());
    this.#releases.push(() => parsed.release());
    const { value } = parsed;
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      fail(1001, 'the body: a JSON object is expected');
    return checked(schema, value);
  }

  /** Checks the query string. @throws InvalidField */
  query<Schema extends z.ZodType>(schema: Schema): z.output<Schema> {
    return checked(schema, Object.fromEntries(this.url.searchParams));
  }

  /** Refuses the request in the words of its door. @throws HttpRefusal, always */
  refuse(status: number, code: string, message: string, param?: string): never {
    throw new HttpRefusal(status, code, message, param);
  }

  /** Sends JSON, in slices if it is long. */
  async sendJson(value: unknown, status = 200): Promise<void> {
    const response = this.#response;
    if (response.destroyed) return;
    response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' });
    if (!isLong(value)) {
      response.end(`${JSON.stringify(value)}\n`);
      this.#socketClient.wrote();
      return;
    }
    let text = '';
    for (const piece of jsonPieces(value)) {
      text += piece;
      if (text.length < bufferedLength) continue;
      await this.#write(text);
      text = '';
      if (response.destroyed) return;
    }
    response.end(`${text}\n`);
    this.#socketClient.wrote();
  }

  /** Begins a stream of server-sent events. */
  beginEvents(): void {
    this.#response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'x-accel-buffering': 'no',
    });
    this.#response.flushHeaders();
  }

  get hasBegun(): boolean {
    return this.#response.headersSent;
  }

  /** Sends an event. `name`: its `event:` line, if it has one. */
  sendEvent(data: unknown, name?: string): void {
    if (this.#response.destroyed) return;
    const text = typeof data === 'string' ? data : JSON.stringify(data);
    this.#response.write(`${name === undefined ? '' : `event: ${name}\n`}data: ${text}\n\n`);
    this.#socketClient.wrote();
  }

  endEvents(): void {
    this.#response.end();
    this.#socketClient.wrote();
  }

  /** Ends the session and gives the memory of the request back. Idempotent. */
  async end(): Promise<void> {
    for (const release of this.#releases.splice(0)) release();
    const session = this.#session;
    this.#session = undefined;
    await session?.end();
  }

  async #write(text: string): Promise<void> {
    const response = this.#response;
    if (!response.write(text)) {
      this.#socketClient.wrote();
      await new Promise<void>((resolve) => {
        response.once('drain', resolve);
        response.once('close', resolve);
      });
    }
    this.#socketClient.wrote();
    await this.client.account.loop.nextSlice();
  }

  async #bytes(): Promise<Buffer> {
    const { headers } = this.#request;
    const type = String(headers['content-type'] ?? '')
      .split(';')[0]
      ?.trim()
      .toLowerCase();
    if (type !== 'application/json')
      throw new HttpRefusal(415, 'unsupported_media_type', 'Content-Type: application/json is expected');
    if (headers['content-encoding'] !== undefined && headers['content-encoding'] !== 'identity')
      throw new HttpRefusal(
        415,
        'unsupported_media_type',
        'Content-Encoding: only an uncompressed body is accepted',
      );
    const { memory } = this.client.account;
    const most = this.host.config.max_frame_mb * 1024 * 1024;
    const announced = Number(headers['content-length'] ?? 0);
    const refuse = (): never => {
      throw new HttpRefusal(413, 'body_too_large', `the body is longer than ${most} bytes (max_frame_mb)`);
    };
    if (announced > most) refuse();
    const never = memory.refusal(announced);
    if (never !== undefined) throw never;
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of this.#request) {
      chunks.push(chunk as Buffer);
      length += (chunk as Buffer).length;
      if (length > most) refuse();
      memory.received(length);
      await this.client.mayRead();
    }
    return Buffer.concat(chunks);
  }
}

/** @throws InvalidField with the path of the field */
export function checked<Schema extends z.ZodType>(schema: Schema, value: object): z.output<Schema> {
  const parsed = schema.safeParse(value, { error: plainMessage });
  if (parsed.success) return parsed.data;
  const issue = fieldIssue(schema as unknown as z.ZodObject, value, parsed.error);
  const { path, nearest } = issue;
  fail(1004, describeIssue(issue), nearest === undefined ? { path } : { path, nearest });
}
