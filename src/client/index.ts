/** `lorekeep/client`: talks to a lorekeep server over TCP. Field names are the protocol's (docs/protocol.md). */
export type { Component, ServerFrames, TurnDiagnostics } from '../agents/nodes/wire.js';
export type { Knowledge } from '../protocol/components.js';
export { ServerError } from '../protocol/errors.js';
export type { RequestFields } from '../protocol/frames.js';
export type { GraphInput as Graph } from '../protocol/graph.js';
export type { Hit, RetrievalPlan } from '../protocol/retrieval.js';
export { ClientAgent, type TurnOptions } from './agent.js';
export type { CallOptions } from './call-options.js';
export type { TurnEvent } from './channel.js';
export { Client, type ConnectOptions, connect } from './client.js';
export { ConnectionLostError } from './connection-lost-error.js';
export type { ConnectionState } from './link.js';
export type { ReconnectPolicy } from './reconnect.js';
export { ClientSession } from './session.js';
