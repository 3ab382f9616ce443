import type { Right } from '../config/keys-file.js';
import { fail } from '../protocol/errors.js';
import type { RequestType } from '../protocol/frames.js';

/**
 * The right that each request needs; undefined: none. A path in a request needs no right here: the session of a client
 * without `files` has no folder to open one in.
 */
export const rightOf: Readonly<Record<RequestType, Right | undefined>> = {
  CreateSessionRequest: undefined,
  DestroySessionRequest: undefined,
  CreateEmbeddedStringStorageRequest: 'search',
  DestroyEmbeddedStringStorageRequest: 'search',
  UpdateEmbeddedStringStorageRequest: 'write',
  GetEmbeddedStringStorageRequest: 'search',
  ListEmbeddedStringStorageRequest: 'search',
  ForgetEmbeddedStringStorageRequest: 'write',
  SearchEmbeddedStringStorageRequest: 'search',
  CreateAgentRequest: 'chat',
  ExportAgentRequest: 'chat',
  DestroyAgentRequest: 'chat',
  TurnRequest: 'chat',
  CancelTurnRequest: 'chat',
  ConfirmForgetRequest: 'chat',
  OpenSpeechRequest: 'chat',
  EndUtteranceRequest: 'chat',
  FinishSpeechRequest: 'chat',
  CloseSpeechRequest: 'chat',
  ReplyHeardRequest: 'chat',
  ListModelsRequest: undefined,
  PullModelRequest: 'files',
  CancelPullRequest: 'files',
  ThrottleReport: 'chat',
  VideoMemoryRequest: 'chat',
  StatusRequest: undefined,
  Ping: undefined,
};

/** @throws RightMissing. `what`: the request, as its client names it */
export function checkRight(rights: ReadonlySet<Right>, right: Right | undefined, what: string): void {
  if (right === undefined || rights.has(right)) return;
  fail(2013, `${what}: the key has no right "${right}"`, { right });
}
