import type { z } from 'zod';
import { type RequestId, requestIdSchema } from './fields.js';
import type { GraphInput } from './graph.js';
import { requestSchemas } from './request-schemas.js';
import { type BudgetStatus, serverSchemas } from './server-schemas.js';
import type { nodeDiagnosticsSchema } from './turn-frames.js';
import { protocolVersion } from './version.js';

export { nodeDiagnosticsSchema, turnCompleteSchema } from './turn-frames.js';
export { type BudgetStatus, protocolVersion, type RequestId, requestIdSchema, requestSchemas, serverSchemas };

export type RequestType = keyof typeof requestSchemas;
/** Requests as a handler sees them, with defaults filled in. */
export type Requests = { [Type in RequestType]: z.output<(typeof requestSchemas)[Type]> };

type Unaddressed<Frame> = Omit<Frame, 'type' | 'id'>;

/** Requests as a client writes them, without the fields that the client library fills in. */
export type RequestFields = {
  [Type in RequestType]: Type extends 'CreateAgentRequest'
    ? Unaddressed<Omit<z.input<(typeof requestSchemas)[Type]>, 'graph'>> & { graph: GraphInput }
    : Unaddressed<z.input<(typeof requestSchemas)[Type]>>;
};

export type DebugInfo = NonNullable<ServerFrames['TurnComplete']['debug_info']>;
export type NodeDiagnostics = z.output<typeof nodeDiagnosticsSchema>;
export type TurnDiagnostics = NonNullable<ServerFrames['TurnComplete']['diagnostics']>;

type ServerFrameType = keyof typeof serverSchemas;
export type ServerFrames = { [Type in ServerFrameType]: z.output<(typeof serverSchemas)[Type]> };
export type ServerFrame = ServerFrames[ServerFrameType];

/** Which frame answers which request; Error may answer any. */
export interface Replies {
  CreateSessionRequest: 'CreateSessionResponse';
  DestroySessionRequest: 'Ack';
  CreateEmbeddedStringStorageRequest: 'CreateEmbeddedStringStorageResponse';
  DestroyEmbeddedStringStorageRequest: 'Ack';
  UpdateEmbeddedStringStorageRequest: 'UpdateEmbeddedStringStorageResponse';
  GetEmbeddedStringStorageRequest: 'GetEmbeddedStringStorageResponse';
  ListEmbeddedStringStorageRequest: 'ListEmbeddedStringStorageResponse';
  ForgetEmbeddedStringStorageRequest: 'ForgetEmbeddedStringStorageResponse';
  SearchEmbeddedStringStorageRequest: 'SearchEmbeddedStringStorageResponse';
  CreateAgentRequest: 'CreateAgentResponse';
  ExportAgentRequest: 'ExportAgentResponse';
  DestroyAgentRequest: 'Ack';
  TurnRequest: 'TurnStarted';
  CancelTurnRequest: 'Ack';
  ConfirmForgetRequest: 'Ack';
  OpenSpeechRequest: 'OpenSpeechResponse';
  EndUtteranceRequest: 'Ack';
  FinishSpeechRequest: 'Ack';
  CloseSpeechRequest: 'Ack';
  ReplyHeardRequest: 'Ack';
  ListModelsRequest: 'ListModelsResponse';
  PullModelRequest: 'PullModelResponse';
  CancelPullRequest: 'Ack';
  ThrottleReport: 'Ack';
  VideoMemoryRequest: 'Ack';
  StatusRequest: 'StatusResponse';
  Ping: 'Pong';
}
