import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Grant } from '../config/keys-file.js';
import type { ServerConfig } from '../config/schema.js';
import type { Account } from '../fairness/account.js';
import type { Pin, SearchableStorage } from '../knowledge/index.js';
import type { Log } from '../log/log.js';
import type { Catalog } from '../models/catalog.js';
import type { CatalogModels } from '../models/catalog-models.js';
import type { Rerankers } from '../models/rerankers.js';
import type { ServerError } from '../protocol/errors.js';
import type { Replies, RequestFields, RequestType, ServerFrame, ServerFrames } from '../protocol/frames.js';

/** The place where the replies of a door's client go, for its account. */
export interface DoorOutput {
  /** Whether the client does not keep up with its replies. */
  lags(): boolean;
  /** Calls back when the replies so far are written. */
  whenWritten(callback: () => void): void;
  /** Ends the client, for a reason. */
  expel(reason: ServerError): void;
}

/** Fields of a request without its session. */
export type CallFields<Type extends RequestType> = Omit<RequestFields[Type], 'session_id'>;

/** A session in which a door makes requests. */
export interface DoorSession {
  readonly id: string;
  /** Aborted when the session ends. */
  readonly signal: AbortSignal;
  /** Makes a request. `onEvent` takes the frames that follow the reply, such as TurnText. @throws ServerError */
  call<Type extends RequestType>(
    type: Type,
    fields: CallFields<Type>,
    onEvent?: (frame: ServerFrame) => void,
  ): Promise<ServerFrames[Replies[Type]]>;
  /** Pins a storage by its name. `where` names the field in errors. @throws as StorageSet.pin() */
  pin(name: string, where: string): Promise<Pin<SearchableStorage>>;
  /** Whether its client may change a storage of http.storages. */
  mayChange(name: string): boolean;
  /** Ends its turns and searches, and gives back its resources. Idempotent. */
  end(): Promise<void>;
}

/** A parsed body. Its memory counts until release(). */
export interface ParsedBody {
  readonly value: unknown;
  release(): void;
}

/** One client of the server that has come through a door. */
export interface DoorClient {
  readonly account: Account;
  readonly log: Log;
  /** Parses JSON in slices, once there is memory for it. @throws MalformedFrame, InvalidField, ClientMemoryExceeded, ServerMemoryExceeded */
  parse(body: Buffer): Promise<ParsedBody>;
  /** Opens a session with the rights of a grant. @throws TooManySessions, ClientMemoryExceeded, ServerMemoryExceeded */
  open(grant: Grant): DoorSession;
  /** Opens a session with all rights that knows these knowledge bases alone, by absolute paths. @throws as open() */
  openStorages(
    files: Readonly<Record<string, { readonly config: string; readonly writable: boolean }>>,
  ): DoorSession;
  /** Waits until the account takes more bytes. */
  mayRead(): Promise<void>;
  close(): Promise<void>;
}

/** A folder or a knowledge base of the page, and whether it can be searched. */
export interface PagePlace {
  /** Its name among `http.storages`. */
  readonly name: string;
  readonly kind: 'folder' | 'config';
  /** The path that the user gave. */
  readonly path: string;
  readonly state: 'waiting' | 'indexing' | 'ready' | 'failed';
  /** How far the phase of indexing is. */
  readonly progress?: { readonly phase: string; readonly done: number; readonly total: number };
  /** Why it failed. */
  readonly reason?: string;
  /** Files that were left out. */
  readonly leftOut?: number;
}

/** The places behind the page, from whoever opens them. */
export interface PageSource {
  readonly places: readonly PagePlace[];
  /** Catalog name of the language model that answers; undefined: the page chooses. */
  readonly model?: string | undefined;
}

/** The server as its doors see it: they translate, and everything else is done here. */
export interface DoorHost {
  readonly config: ServerConfig;
  readonly log: Log;
  readonly version: string;
  readonly catalog: Catalog;
  readonly models: CatalogModels;
  readonly rerankers: Rerankers;
  /** Whether new work is refused. */
  readonly isStopping: boolean;
  /** Whether clients of the doors need a secret. */
  readonly isClosed: boolean;
  /** Returns the rights that a secret gives. @throws AccessTokenMissing, AccessTokenWrong, TooManyWrongTokens */
  admit(address: string, secret: string | undefined): Grant;
  /** Makes a secret with these rights for a page in a browser. */
  issuePass(grant: Grant): string;
  /** The places that the page shows; undefined: the storages of the config. */
  readonly page: PageSource | undefined;
  /** Calls `drop`, which never rejects, whenever records were forgotten, and waits for it before that is told. */
  whenForgotten(drop: () => Promise<void>): void;
  /** Learns who the client of a connection is. */
  readonly proxies: ClientFinder;
  /** Takes a slot for a socket. The result gives it back. @throws TooManyConnections, OutOfDescriptors */
  takeSlot(socket: Socket): () => void;
  /** Makes a client of an address. @throws ServerMemoryExceeded */
  connect(address: string, name: string, output: DoorOutput): DoorClient;
  /** Serves a client that sends frames through a transport of its own, until that closes. @throws ServerMemoryExceeded */
  serveFrames(socket: FrameSocket, address: string): void;
}

/** Learns who the clients of balancers are, as src/server/proxy-protocol.ts does. */
export interface ClientFinder {
  /** Calls `serve` when it is known. Then the remote end of the socket is the client that its peer states, if it does. */
  identify(socket: Socket, serve: (stated: boolean) => void): void;
  /** Whether a connection begins as only that of a balancer may, without being of one. */
  isUnlisted(socket: Socket, bytes: Buffer | undefined): boolean;
}

/** A transport of frames that looks like a TCP socket. */
export interface FrameSocket extends Duplex {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  setNoDelay(on: boolean): unknown;
  setKeepAlive(on: boolean, delayMs: number): unknown;
  destroySoon(): void;
  /** Bytes received of a message that the stream does not have yet. It emits `unfinished` when they change, with the time in ms. */
  readonly unfinishedBytes?: number;
}
