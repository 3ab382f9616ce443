/** `lorekeep/client`: talks to a lorekeep server over TCP. Field names are the protocol's in camelCase (docs/client.md). */
export { ServerError } from '../protocol/errors.js';
export { ClientAgent, type TurnOptions } from './agent.js';
export type { TurnEvent } from './channel.js';
export { ConnectionLostError } from './channel.js';
export { Client, type ConnectOptions, connect } from './client.js';
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
export type { CallOptions, ConnectionState } from './link.js';
export type { ReconnectPolicy } from './reconnect.js';
export { ClientSession } from './session.js';
