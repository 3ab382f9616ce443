import type { Replies, RequestType } from '../protocol/frames.js';
import type { Hit, RequestFieldsByType, ServerFrames, SessionRequest } from './frames.gen.js';

export type {
  Citation,
  Component,
  Graph,
  GraphNode,
  History,
  Hit,
  Knowledge,
  RetrievalPlan,
  ServerFrames,
  Source,
  TurnHit,
} from './frames.gen.js';

export type TurnDiagnostics = NonNullable<ServerFrames['TurnComplete']['diagnostics']>;

/** The metadata of a hit whose fields are not known to the compiler. */
export type HitMetadata = NonNullable<Hit['metadata']>;

/** The reply to a search. `Own`: the type of the hits' metadata. */
export type SearchReply<Own = HitMetadata> = Omit<
  ServerFrames['SearchEmbeddedStringStorageResponse'],
  'hits'
> & {
  /** The hits, best first. */
  hits: (Omit<Hit, 'metadata'> & {
    /** The metadata; integers beyond 2^53 as decimal strings. */
    metadata?: Own | undefined;
  })[];
};

/** Fields of requests by type, without the session, which is known. */
export type SessionFields<Type extends RequestType> = RequestFieldsByType[Type];

/** Fields of requests, by type; their ids are filled in by the client. */
export type RequestFields = {
  [Type in RequestType]: Type extends SessionRequest
    ? RequestFieldsByType[Type] & { sessionId: string }
    : RequestFieldsByType[Type];
};

export type ReplyTo<Type extends RequestType> = ServerFrames[Replies[Type]];
