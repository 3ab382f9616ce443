/// <reference lib="esnext.disposable" preserve="true" />
/** `lorekeep/client`: talks to a lorekeep server over TCP. Field names are the protocol's in camelCase (docs/reference/client.md). */
export type { FilterExpression } from '../../lib/internal.js';
export {
  ClientAgent,
  type ForgetAnswer,
  type ForgetProposal,
  type OpenedMemory,
  type TurnOptions,
} from './agent.js';
export type { PullProgress, SpeechEvent, TurnEvent } from './channel.js';
export { ConnectionLostError } from './channel.js';
export { Client, type ConnectOptions, connect } from './client.js';
export type * from './frames.gen.js';
export type { HitMetadata, RequestFields, SearchReply, TurnDiagnostics } from './frames.js';
export type { CallOptions, ConnectionState } from './link.js';
export type { ReconnectPolicy } from './reconnect.js';
export { ServerError } from './server-error.js';
export type { ServerExit } from './server-process.js';
export { ClientSession, type PullOptions } from './session.js';
export { ClientSpeech } from './speech.js';
export {
  ServerStartError,
  type StartedServer,
  type StartServerOptions,
  startServer,
} from './start-server.js';
