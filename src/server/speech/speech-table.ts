import { CallQueue } from '../../../lib/internal.js';
import type { Account } from '../../fairness/account.js';
import { longestAudioFrame, parseAudioFrame } from '../../protocol/audio-frame.js';
import type { WireFrame } from '../../protocol/decoder.js';
import { fail, type ServerError, serverError } from '../../protocol/errors.js';
import type { Requests, ServerFrame, ServerFrames } from '../../protocol/frames.js';
import type { Services } from '../services.js';
import type { Session } from '../session.js';
import { ServedSpeech } from './served-speech.js';
import { chooseModels } from './speech-models.js';
import { SpokenTurns, type UnansweredTurns } from './spoken-turns.js';
import { storageTerms } from './storage-terms.js';

/** Maximum number of open streams of one session. */
export const maxSpeechStreams = 256;

/** The connection of the request that opens a stream. */
interface Context {
  readonly services: Services;
  readonly account: Account;
  readonly attended: boolean;
  send(frame: ServerFrame): void;
  holdRequest(until: Promise<void>): void;
}

interface OpenStream {
  readonly session: string;
  readonly agentId: string | undefined;
  readonly unanswered: UnansweredTurns;
  readonly speech: ServedSpeech;
}

/** The streams of one client. */
export class SpeechTable {
  readonly #streams = new Map<number, OpenStream>();
  /** Streams that are being opened, by session. */
  readonly #opening = new Map<string, number>();
  /** One recognition of a class at a time: models serve waiting clients in turn, and one with many streams gets no more than another. */
  readonly #recognitions = new CallQueue(1);
  #made = 0;

  /**
   * Opens a stream, which lives until it is closed or its session ends.
   * @throws TooManySpeechStreams, InvalidField, AgentNotFound, ClientMemoryExceeded, ServerMemoryExceeded; as a lease does
   */
  async open(
    session: Session,
    request: Requests['OpenSpeechRequest'],
    context: Context,
  ): Promise<Omit<ServerFrames['OpenSpeechResponse'], 'reply_to'>> {
    const { id } = session;
    this.#checkRoom(id);
    if (request.agent_id !== undefined) session.checkAgent(request.agent_id);
    this.#opening.set(id, (this.#opening.get(id) ?? 0) + 1);
    try {
      return await session.track(this.#open(session, request, context));
    } finally {
      const others = (this.#opening.get(id) ?? 1) - 1;
      if (others === 0) this.#opening.delete(id);
      else this.#opening.set(id, others);
    }
  }

  /** @throws SpeechStreamNotFound */
  get({ id }: Session, stream: number): ServedSpeech {
    const found = this.#streams.get(stream);
    if (found?.session !== id)
      fail(7001, `stream: the session has no open stream ${stream}`, { path: 'stream' });
    return found.speech;
  }

  /** Takes a binary frame. Returns the error of one that belongs to no stream; audio of a stream that has ended is dropped. */
  audio({ payload, length }: WireFrame): ServerError | undefined {
    const frame = parseAudioFrame(payload);
    if (frame === undefined) {
      const expected = 'an audio frame begins with 00 00 00 01, the stream, and the sequence number';
      return serverError(7003, `a binary frame of ${length} bytes is no audio: ${expected}`, {});
    }
    const { stream } = frame;
    const speech = this.#streams.get(stream)?.speech;
    if (speech === undefined) {
      if (stream > 0 && stream <= this.#made) return undefined;
      return serverError(7003, `stream: there was no stream ${stream} on this connection`, { stream });
    }
    if (length > longestAudioFrame) speech.refuseLength(length);
    else speech.take(frame);
    return undefined;
  }

  #checkRoom(session: string): void {
    let open = this.#opening.get(session) ?? 0;
    for (const stream of this.#streams.values()) if (stream.session === session) open++;
    if (open < maxSpeechStreams) return;
    fail(7002, `the session has reached its limit of ${maxSpeechStreams} streams; close one first`, {
      limit: maxSpeechStreams,
    });
  }

  /** Those of the open streams of an agent. */
  #unansweredOf(agentId: string | undefined): UnansweredTurns {
    const others = agentId === undefined ? [] : [...this.#streams.values()];
    return others.find((stream) => stream.agentId === agentId)?.unanswered ?? new Map();
  }

  async #open(session: Session, request: Requests['OpenSpeechRequest'], context: Context) {
    const { services, account, send, attended } = context;
    const { signal } = session;
    const { agent_id: agentId } = request;
    const models = await chooseModels(services, request, signal);
    const detector = await models.detector.lease(signal);
    const number = ++this.#made;
    let unanswered: UnansweredTurns;
    let speech: ServedSpeech;
    try {
      const terms = request.terms ?? (await termsOf(session, agentId, account));
      signal.throwIfAborted();
      unanswered = this.#unansweredOf(agentId);
      const turns = (failed: (error: unknown) => void) =>
        agentId === undefined
          ? undefined
          : new SpokenTurns({
              ...{ session, agentId, stream: number, request, attended, send, failed, unanswered },
              activity: services.activity,
            });
      const { dumps, log } = services;
      speech = new ServedSpeech({
        ...{ number, request, terms, models, detector, account, dumps, log, signal, send, turns },
        session: session.id,
        recognitions: this.#recognitions,
      });
    } catch (error) {
      detector[Symbol.dispose]();
      throw error;
    }
    this.#streams.set(number, { session: session.id, agentId, unanswered, speech });
    // The stream has its texts and variables.
    context.holdRequest(speech.ended);
    void session.track(speech.ended.finally(() => this.#streams.delete(number)));
    return {
      type: 'OpenSpeechResponse' as const,
      stream: number,
      credit_bytes: speech.creditBytes,
      model: models.recogniser.name,
      vad_model: models.detector.name,
    };
  }
}

/** The names in the storages that an agent searches, as they are now. */
async function termsOf(session: Session, agentId: string | undefined, account: Account): Promise<string[]> {
  if (agentId === undefined) return [];
  const pins = session.pinSearched(agentId);
  try {
    return await storageTerms(pins, account, session.signal);
  } finally {
    for (const pin of pins) await pin.release();
  }
}
