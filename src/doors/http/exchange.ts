import type { IncomingMessage, ServerResponse } from 'node:http';
import type { z } from 'zod';
import { describeIssue, fieldIssue } from '../../base/schema/field-issue.js';
import { plainMessage } from '../../base/schema/messages.js';
import { mapInSlices } from '../../base/waiting/next-slice.js';
import type { Grant } from '../../config/keys-file.js';
import { fail, serverError } from '../../protocol/errors.js';
import { isLong, jsonPieces } from '../../protocol/json-pieces.js';
import type { DoorClient, DoorHost, DoorSession } from '../host.js';
import { BodyBytes } from './body-bytes.js';
import { type FieldNames, HttpRefusal, inRequest } from './failure.js';
import type { SocketClient } from './socket-client.js';

/** Headers that concern one connection alone, and secrets. */
const ofConnection = new Set([
  ...['authorization', 'connection', 'content-length', 'cookie', 'expect', 'host', 'keep-alive'],
  ...['te', 'trailer', 'transfer-encoding', 'upgrade'],
]);

/** Characters converted to bytes at once. */
const bufferedLength = 64 * 1024;

/** Items checked between two readings of the clock: one may have thousands of parts. */
const itemsAtOnce = 4;

const mebibyte = 1024 * 1024;

/** One request to a route, and its reply. */
export class Exchange {
  readonly host: DoorHost;
  readonly url: URL;
  readonly params: Readonly<Record<string, string>>;
  readonly grant: Grant;
  /** Names of fields in this body, where these differ from the route's. */
  fieldNames: FieldNames | undefined;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #socketClient: SocketClient;
  readonly #gone = new AbortController();
  #session: DoorSession | undefined;
  /** Sends a long event, and those after it. */
  #longEvents: Promise<void> | undefined;
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

  /** The headers, without those of the connection. Of several with one name, the joined or the first one. */
  get plainHeaders(): Record<string, string> {
    const { headers } = this.#request;
    const entries = Object.entries(headers).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string' && !ofConnection.has(entry[0]),
    );
    return Object.fromEntries(entries);
  }

  /** The session of this request; it ends with the request. @throws as DoorClient.open() */
  get session(): DoorSession {
    this.#session ??= this.client.open(this.grant);
    return this.#session;
  }

  /**
   * Reads and checks the JSON body. Its fields that are null count as absent; the schema decides about unknown ones.
   * @throws HttpRefusal, MalformedFrame, InvalidField, ClientMemoryExceeded, ServerMemoryExceeded
   */
  async body<Schema extends z.ZodType>(schema: Schema): Promise<z.output<Schema>> {
    const value = await this.json();
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      fail(1001, 'the body: a JSON object is expected');
    return checked(schema, withoutNulls(value));
  }

  /** Reads the JSON body. @throws HttpRefusal, MalformedFrame, ClientMemoryExceeded, ServerMemoryExceeded */
  async json(): Promise<unknown> {
    const bytes = await this.#bytes('application/json', this.host.config.max_frame_mb * mebibyte);
    const parsed = await this.client.parse(bytes).catch((thrown: unknown) => {
      throw inRequest(thrown);
    });
    this.#releases.push(() => parsed.release());
    return parsed.value;
  }

  /** Checks the items of an array of the body, in slices. `field`: its name. @throws InvalidField with the path of the first mistake */
  items<Schema extends z.ZodType>(
    schema: Schema,
    items: readonly unknown[],
    field: string,
  ): Promise<z.output<Schema>[]> {
    const check = (item: unknown, index: number) => checked(schema, item, `${field}[${index}]`);
    return mapInSlices(items, check, itemsAtOnce);
  }

  /** Reads a form of at most so many bytes. @throws HttpRefusal */
  async form(most: number): Promise<URLSearchParams> {
    const bytes = await this.#bytes('application/x-www-form-urlencoded', most);
    return new URLSearchParams(bytes.toString('utf8'));
  }

  /** Checks the query string. @throws InvalidField */
  query<Schema extends z.ZodType>(schema: Schema): z.output<Schema> {
    const fields = new Map<string, string>();
    for (const [name, value] of this.url.searchParams) {
      if (fields.has(name)) fail(1004, `${name}: occurs twice`, { path: name });
      fields.set(name, value);
    }
    return checked(schema, Object.fromEntries(fields));
  }

  /** Refuses the request in the words of its door. @throws HttpRefusal, always */
  refuse(status: number, code: string, message: string, param?: string): never {
    throw new HttpRefusal(status, code, message, param);
  }

  /** Sends a file of ours. */
  sendContent(content: string | Buffer, headers: Readonly<Record<string, string>>, status = 200): void {
    this.#response.writeHead(status, headers);
    this.#response.end(content);
    this.#socketClient.wrote();
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

  /** Sends a reply that a library has made, as fast as the client reads. */
  async relay({ status, headers, body }: Response): Promise<void> {
    const response = this.#response;
    if (response.destroyed) return void (await body?.cancel());
    response.writeHead(status, Object.fromEntries(headers));
    // A stream of events may be silent for long.
    response.flushHeaders();
    for await (const chunk of body ?? []) {
      await this.#write(chunk);
      if (response.destroyed) return;
    }
    response.end();
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

  /** Sends an event: a long one in slices, and later ones after it. `name`: its `event:` line, if it has one. */
  sendEvent(data: unknown, name?: string): void {
    if (this.#response.destroyed) return;
    const begin = `${name === undefined ? '' : `event: ${name}\n`}data: `;
    if (this.#longEvents === undefined && !isLong(data)) {
      this.#response.write(`${begin}${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`);
      this.#socketClient.wrote();
      return;
    }
    const sent = (this.#longEvents ?? Promise.resolve()).then(() => this.#writeEvent(begin, data));
    this.#longEvents = sent;
    void sent.finally(() => {
      if (this.#longEvents === sent) this.#longEvents = undefined;
    });
  }

  /** Ends the stream after the events so far. */
  async endEvents(): Promise<void> {
    await this.#longEvents;
    this.#response.end();
    this.#socketClient.wrote();
  }

  async #writeEvent(begin: string, data: unknown): Promise<void> {
    let text = begin;
    for (const piece of typeof data === 'string' ? [data] : jsonPieces(data)) {
      text += piece;
      if (text.length < bufferedLength) continue;
      await this.#write(text);
      text = '';
      if (this.#response.destroyed) return;
    }
    await this.#write(`${text}\n\n`);
  }

  /** Calls back when the reply has ended. */
  readonly onEnd = (release: () => void): void => {
    this.#releases.push(release);
  };

  /** Ends the session and gives the memory of the request back. Idempotent. */
  async end(): Promise<void> {
    for (const release of this.#releases.splice(0)) release();
    const session = this.#session;
    this.#session = undefined;
    await session?.end();
  }

  async #write(piece: string | Uint8Array): Promise<void> {
    const response = this.#response;
    if (!response.write(piece)) {
      this.#socketClient.wrote();
      await new Promise<void>((resolve) => {
        const goOn = () => {
          response.off('drain', goOn).off('close', goOn);
          resolve();
        };
        response.once('drain', goOn).once('close', goOn);
      });
    }
    this.#socketClient.wrote();
    await this.client.account.loop.nextSlice();
  }

  async #bytes(wanted: string, most: number): Promise<Buffer> {
    const { headers } = this.#request;
    const type = String(headers['content-type'] ?? '')
      .split(';')[0]
      ?.trim()
      .toLowerCase();
    if (type !== wanted)
      throw new HttpRefusal(415, 'unsupported_media_type', `Content-Type: ${wanted} is expected`);
    if (headers['content-encoding'] !== undefined && headers['content-encoding'] !== 'identity')
      throw new HttpRefusal(
        415,
        'unsupported_media_type',
        'Content-Encoding: only an uncompressed body is accepted',
      );
    const { memory } = this.client.account;
    const announced = Number(headers['content-length'] ?? 0);
    const refuse = (): never => {
      throw new HttpRefusal(
        413,
        'body_too_large',
        `the body is longer than ${most} bytes${wanted === 'application/json' ? ' (max_frame_mb)' : ''}`,
      );
    };
    if (announced > most) refuse();
    const never = memory.refusal(announced);
    if (never !== undefined) throw never;
    if (headers.expect?.toLowerCase() === '100-continue') this.#response.writeContinue();
    const bytes = new BodyBytes();
    for await (const piece of this.#request) {
      bytes.push(piece as Buffer);
      if (bytes.length > most) refuse();
      memory.received(bytes.length);
      await this.client.mayRead();
    }
    return bytes.whole();
  }
}

/** `where`: path of the value, if it is no body. @throws InvalidField with the path of the field */
export function checked<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  where = '',
): z.output<Schema> {
  const parsed = schema.safeParse(value, { error: plainMessage });
  if (parsed.success) return parsed.data;
  const issue = fieldIssue(schema, value, parsed.error);
  const { nearest } = issue;
  const path = where === '' ? issue.path : joinedPath(where, issue.path);
  const details = nearest === undefined ? { path } : { path, nearest };
  throw inRequest(serverError(1004, describeIssue({ ...issue, path }), details));
}

function withoutNulls(body: object): object {
  const entries = Object.entries(body);
  return entries.some(([, value]) => value === null)
    ? Object.fromEntries(entries.filter(([, value]) => value !== null))
    : body;
}

/** The path of a field within the value at another path. */
const joinedPath = (where: string, path: string) =>
  path === '' || path.startsWith('[') ? `${where}${path}` : `${where}.${path}`;
