/** `lorekeep/client`: talks to a lorekeep server over TCP. Field names are the protocol's in camelCase (docs/client.md). */
export { ServerError } from '../protocol/errors.js';
export { ClientAgent, type TurnOptions } from './agent.js';
export type { CallOptions } from './call-options.js';
export type { TurnEvent } from './channel.js';
export { Client, type ConnectOptions, connect } from './client.js';
export { ConnectionLostError } from './connection-lost-error.js';
export type {
  Citation,
  Component,
  Graph,
  GraphNode,
  Hit,
  Knowledge,
  RequestFields,
  RetrievalPlan,
  ServerFrames,
  TurnDiagnostics,
} from './frames.js';
export type { ConnectionState } from './link.js';
export type { ReconnectPolicy } from './reconnect.js';
export { ClientSession } from './session.js';
