import { fullGrant, type Grant } from '../config/keys-file.js';
import type { DoorClient, DoorOutput, DoorSession, ParsedBody } from '../doors/host.js';
import type { RequestMemory } from '../fairness/client-memory.js';
import { ServerError, serverError } from '../protocol/errors.js';
import type { Replies, RequestType, ServerFrame, ServerFrames } from '../protocol/frames.js';
import type { JsonParser } from '../protocol/json-parser.js';
import { payloadParser } from '../protocol/request.js';
import type { Place } from './admission.js';
import { Client } from './client.js';
import { defaultLimits } from './connection-limits.js';
import { writeRules } from './handlers.js';
import type { Services } from './services.js';
import type { Session } from './session.js';
import type { ClientGate } from './session-table.js';

interface Body {
  readonly parser: JsonParser;
  readonly memory: RequestMemory;
  resolve(body: ParsedBody): void;
  reject(error: unknown): void;
}

const gone = () => serverError(2002, 'the connection was closed');

/** A client that a door serves: the same account, sessions and requests as those of a TCP connection, without its frames. */
export class ServedDoorClient implements DoorClient {
  readonly #services: Services;
  readonly #client: Client;
  readonly #place: Place;
  readonly #bodies: Body[] = [];
  #requests = 0;
  #closing: Promise<void> | undefined;

  constructor(services: Services, place: Place, name: string, gate: ClientGate, output: DoorOutput) {
    this.#services = services;
    this.#place = place;
    const { memory } = place;
    const options = { name, memory, producers: defaultLimits.producers, gate, declared: services.declared };
    this.#client = new Client(services, options, {
      serve: (isDue) => this.#parseBodies(isDue),
      serveShort: () => 0,
      settle: () => {},
      lags: () => output.lags(),
      whenWritten: (callback) => output.whenWritten(callback),
    });
  }

  get account() {
    return this.#client.account;
  }

  get log() {
    return this.#client.log;
  }

  async parse(body: Buffer): Promise<ParsedBody> {
    const { memory } = this.account;
    const { length } = body;
    const refusal = memory.refusal(length);
    if (refusal !== undefined) throw refusal;
    let begun = this.account.begin(length);
    while (begun === undefined) {
      await new Promise<void>((resolve) => memory.onRoom(resolve));
      if (this.#closing !== undefined) throw gone();
      begun = this.account.begin(length);
    }
    memory.received(0);
    const held = begun;
    return new Promise((resolve, reject) => {
      this.#bodies.push({ parser: payloadParser(body, 'the body'), memory: held, resolve, reject });
      this.account.loop.request();
    });
  }

  async mayRead(): Promise<void> {
    const { memory } = this.account;
    while (!memory.mayRead && this.#closing === undefined)
      await new Promise<void>((resolve) => memory.onRoom(resolve));
  }

  open(grant: Grant): DoorSession {
    this.#client.heard();
    return this.#served(this.#client.sessions.open(grant));
  }

  openStorages(files: Parameters<DoorClient['openStorages']>[0]): DoorSession {
    this.#client.heard();
    const declared = this.#services.folders.declared(files);
    return this.#served(this.#client.sessions.open(fullGrant, declared));
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  #served(session: Session): DoorSession {
    return new ServedDoorSession(this.#client, session, {
      nextId: () => ++this.#requests,
      mayChange: (name) =>
        this.#client.sessions.rights.has('write') &&
        session.mayChangeDeclared(name, writeRules(this.#services)),
    });
  }

  async #close(): Promise<void> {
    for (const { memory, reject } of this.#bodies.splice(0)) {
      memory.release();
      reject(gone());
    }
    this.account.memory.received(0);
    await this.#client.close(gone());
    this.account.memory.unsent(0);
    this.#place.release();
  }

  /** A slice of parsing. Returns as LoopWork.serve(). */
  #parseBodies(isDue: () => boolean): number {
    const [body] = this.#bodies;
    if (body === undefined) return 0;
    const { account } = this;
    if (!account.memory.mayGrow) {
      account.memory.onRoom(() => account.loop.request());
      return 0;
    }
    const { parser, memory, resolve, reject } = body;
    try {
      const ended = parser.parse(isDue);
      memory.parsed(parser);
      if (!ended) return Number.POSITIVE_INFINITY;
      resolve({ value: parser.value, release: () => memory.release() });
    } catch (error) {
      memory.release();
      reject(error);
    }
    this.#bodies.shift();
    account.memory.grown();
    return this.#bodies.length;
  }
}

class ServedDoorSession implements DoorSession {
  readonly #client: Client;
  readonly #session: Session;
  readonly #nextId: () => number;
  readonly mayChange: DoorSession['mayChange'];
  #ending: Promise<void> | undefined;

  constructor(
    client: Client,
    session: Session,
    { nextId, mayChange }: { nextId: () => number; mayChange: DoorSession['mayChange'] },
  ) {
    this.#client = client;
    this.#session = session;
    this.#nextId = nextId;
    this.mayChange = mayChange;
  }

  get id() {
    return this.#session.id;
  }

  get signal() {
    return this.#session.signal;
  }

  async call<Type extends RequestType>(
    type: Type,
    fields: object,
    onEvent: (frame: ServerFrame) => void = () => {},
  ): Promise<ServerFrames[Replies[Type]]> {
    const id = this.#nextId();
    let sent: ServerFrame | undefined;
    const outlet = {
      send: (frame: ServerFrame) => {
        if ('reply_to' in frame && frame.reply_to === id) sent = frame;
        else onEvent(frame);
      },
      attended: false,
      holdRequest: () => {},
    };
    const request = { ...fields, type, id, ...(hasSession(type) && { session_id: this.id }) };
    const reply = ((await this.#client.answer(request, outlet)) as ServerFrame | undefined) ?? sent;
    if (reply === undefined) throw serverError(1009, 'the request had no reply');
    if (reply.type === 'Error')
      throw new ServerError(reply.code, reply.name, reply.message, reply.details as ServerError['details']);
    return reply as ServerFrames[Replies[Type]];
  }

  pin(name: string, where: string) {
    return this.#session.storages.pin(name, where, { unknown: 8005 });
  }

  end(): Promise<void> {
    this.#ending ??= this.#client.sessions
      .destroy(this.id, serverError(2002, 'the request has ended'))
      .catch(() => {}); // its client has gone, and ended it
    return this.#ending;
  }
}

const withoutSession: ReadonlySet<RequestType> = new Set([
  'CreateSessionRequest',
  'ThrottleReport',
  'VideoMemoryRequest',
  'StatusRequest',
  'Ping',
]);

const hasSession = (type: RequestType) => !withoutSession.has(type);
