import type * as wire from '../agents/nodes/wire.js';
import type { Citation as WireCitation, Knowledge as WireKnowledge } from '../protocol/components.js';
import type { Replies, RequestType, RequestFields as WireFields } from '../protocol/frames.js';
import type { Hit as WireHit, RetrievalPlan as WirePlan } from '../protocol/retrieval.js';
import type { CamelCased } from './names.js';

/** What the server sends, by type, in the spelling of this client. */
export type ServerFrames = { [Type in keyof wire.ServerFrames]: CamelCased<wire.ServerFrames[Type]> };

/** Fields of requests, by type; their session and ids are filled in by the client. */
export type RequestFields = {
  [Type in RequestType]: Type extends 'CreateAgentRequest'
    ? CamelCased<Omit<WireFields[Type], 'graph'>> & { graph: Graph }
    : CamelCased<WireFields[Type]>;
};

/** The fields of a request but for the session, which is known. */
export type SessionFields<Type extends RequestType> = Omit<RequestFields[Type], 'sessionId'>;

export type ReplyTo<Type extends RequestType> = ServerFrames[Replies[Type]];

/** A node of a known type with its params in camelCase, or any node, with params in either spelling. */
export type GraphNode = CamelCased<wire.NodeInput> | { id: string; type: string; params?: object };

/** An agent's graph. One that was read from a JSON file, in the protocol's spelling, is as good. */
export interface Graph {
  nodes: readonly GraphNode[];
  edges?: readonly (readonly [from: string, to: string])[];
}

export type Component = CamelCased<wire.Component>;
export type TurnDiagnostics = CamelCased<wire.TurnDiagnostics>;
export type Citation = CamelCased<WireCitation>;
export type Knowledge = CamelCased<WireKnowledge>;
export type Hit = CamelCased<WireHit>;
export type RetrievalPlan = CamelCased<WirePlan>;
