import type { Requests } from '../../protocol/frames.js';
import type { HandlerContext } from '../handler-context.js';

/** Handlers of requests about streams of audio. */
export const speechHandlers = {
  OpenSpeechRequest(context: HandlerContext, request: Requests['OpenSpeechRequest']) {
    return context.speech.open(context.sessions.get(request.session_id), request, context);
  },

  EndUtteranceRequest({ sessions, speech }: HandlerContext, request: Requests['EndUtteranceRequest']) {
    speech.get(sessions.get(request.session_id), request.stream).endUtterance();
    return { type: 'Ack' as const };
  },

  FinishSpeechRequest({ sessions, speech }: HandlerContext, request: Requests['FinishSpeechRequest']) {
    speech.get(sessions.get(request.session_id), request.stream).finish();
    return { type: 'Ack' as const };
  },

  async CloseSpeechRequest({ sessions, speech }: HandlerContext, request: Requests['CloseSpeechRequest']) {
    await speech.get(sessions.get(request.session_id), request.stream).close();
    return { type: 'Ack' as const };
  },

  async ReplyHeardRequest({ sessions }: HandlerContext, request: Requests['ReplyHeardRequest']) {
    await sessions.get(request.session_id).replyHeard(request.turn_id, request.characters);
    return { type: 'Ack' as const };
  },
};
