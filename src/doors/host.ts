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
  /** Opens a session with a storage root of its own. @throws as open(); AccessTokenMissing, SessionFolderRefused */
  openFolder(folder: string): Promise<DoorSession>;
  /** Waits until the account takes more bytes. */
  mayRead(): Promise<void>;
  close(): Promise<void>;
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
  /** Takes a slot for a socket. The result gives it back. @throws TooManyConnections, OutOfDescriptors */
  takeSlot(socket: Socket): () => void;
  /** Makes a client of an address. @throws ServerMemoryExceeded */
  connect(address: string, name: string, output: DoorOutput): DoorClient;
  /** Serves a client that sends frames through a transport of its own, until that closes. @throws ServerMemoryExceeded */
  serveFrames(socket: FrameSocket, address: string): void;
}

/** A transport of frames that looks like a TCP socket. */
export interface FrameSocket extends Duplex {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  setNoDelay(on: boolean): unknown;
  setKeepAlive(on: boolean, delayMs: number): unknown;
  destroySoon(): void;
}
