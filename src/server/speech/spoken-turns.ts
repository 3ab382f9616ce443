import type { Activity } from '../../base/waiting/activity.js';
import { fail } from '../../protocol/errors.js';
import type { Requests, ServerFrame, ServerFrames } from '../../protocol/frames.js';
import { milliseconds } from '../../protocol/milliseconds.js';
import type { SpeechTimes } from '../../protocol/speech-frames.js';
import type { SpeechEvent } from '../../speech/speech-stream.js';
import { isUnfinished } from '../../speech/unfinished-sentence.js';
import type { Session } from '../session.js';

/** Characters that are said without a turn, after which one begins: nobody dictates as much in one breath. */
const longestSaid = 65_536;

type OpenRequest = Requests['OpenSpeechRequest'];

export interface SpokenTurnsOptions {
  readonly session: Session;
  readonly agentId: string;
  readonly stream: number;
  readonly request: OpenRequest;
  readonly activity: Activity;
  /** Those of the agent: a stream may interrupt a turn of another one. */
  readonly unanswered: UnansweredTurns;
  readonly attended: boolean;
  send(frame: ServerFrame): void;
  /** A turn could not begin. */
  failed(error: unknown): void;
}

interface SpokenTurn {
  readonly text: string;
  readonly ended: Promise<void>;
  /** Number of the stream whose speech has cancelled it. */
  interruptedBy?: number;
}

/** By id, the spoken turns of an agent that are unfinished, or that speech cancelled before their reply began. */
export type UnansweredTurns = Map<string, SpokenTurn>;

/** Makes turns of an agent of the final text of a stream, and cancels them when somebody speaks. */
export class SpokenTurns {
  readonly #options: SpokenTurnsOptions;
  /** Text that no turn has, and its characters. */
  #said: string[] = [];
  #saidLength = 0;
  #language = '';
  #isSpeaking = false;
  /** Ended segments without their text. */
  #untold = 0;
  #times = { silenceMs: 0, recognitionMs: 0 };
  /** When the last text came. */
  #toldAt = 0;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  /** Settles when the turns that speech has cancelled have ended, and the next one has begun. */
  #begun: Promise<void> = Promise.resolve();

  constructor(options: SpokenTurnsOptions) {
    this.#options = options;
  }

  hear(event: SpeechEvent): void {
    if (event.kind === 'started') this.#started();
    else if (event.kind === 'ended') {
      this.#isSpeaking = event.cut;
      this.#untold++;
      this.#times.silenceMs = event.silenceMs;
    } else if (event.final) this.#told(event.found, event.recognitionMs);
  }

  /** The user has ended what was said so far. Resolves when its turn has begun. */
  endUtterance(): Promise<void> {
    this.#isSpeaking = false;
    this.#start();
    return this.#begun;
  }

  /** No turn begins from now on. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #started(): void {
    this.#isSpeaking = true;
    clearTimeout(this.#timer);
    const { session, agentId, stream, request, unanswered } = this.#options;
    if (!request.barge_in) return;
    for (const id of session.interrupt(agentId)) {
      const turn = unanswered.get(id);
      if (turn !== undefined) turn.interruptedBy = stream;
    }
  }

  #told({ text, language }: { text: string; language: string }, recognitionMs: number): void {
    this.#untold--;
    this.#times.recognitionMs = recognitionMs;
    this.#toldAt = performance.now();
    if (text !== '') {
      this.#said.push(text);
      this.#saidLength += text.length;
      this.#language = language;
    }
    const isLong = this.#saidLength > longestSaid;
    const { turns, end_of_turn, sentence_wait_ms } = this.#options.request;
    if (!isLong && (turns === 'push_to_talk' || this.#isSpeaking || this.#untold > 0)) return;
    const goesOn =
      !isLong && end_of_turn === 'sentence' && isUnfinished(this.#said.at(-1) ?? '', this.#language);
    if (!goesOn) this.#start();
    else {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#start(), sentence_wait_ms);
    }
  }

  #start(): void {
    clearTimeout(this.#timer);
    const said = this.#said;
    this.#said = [];
    this.#saidLength = 0;
    const { silenceMs, recognitionMs } = this.#times;
    const toldAt = this.#toldAt;
    this.#begun = this.#begun
      .then(async () => {
        const text = [...(await this.#takeUnanswered()), ...said].join(' ').slice(-2 * longestSaid);
        const times = {
          silence_ms: milliseconds(silenceMs),
          recognition_ms: milliseconds(recognitionMs),
          wait_ms: milliseconds(performance.now() - toldAt),
        };
        if (text !== '' && !this.#isClosed) this.#begin(text, times);
      })
      .catch((error) => this.#options.failed(error));
  }

  /** Returns the texts of turns that this stream cancelled before their reply began: the next turn starts with them. */
  async #takeUnanswered(): Promise<string[]> {
    const { stream, unanswered } = this.#options;
    const texts: string[] = [];
    for (const [id, { text, ended, interruptedBy }] of [...unanswered]) {
      if (interruptedBy !== stream) continue;
      await ended;
      if (unanswered.delete(id)) texts.push(text);
    }
    return texts;
  }

  #begin(text: string, speech: SpeechTimes): void {
    const { session, agentId, stream, request, activity, attended, send } = this.#options;
    if (activity.stopping) fail(1008, 'the server is stopping');
    const turn = session.startTurn(
      agentId,
      { text, variables: request.variables, speech },
      (frame) => {
        if (frame.type === 'TurnComplete') this.#ended(frame);
        send(frame);
      },
      attended,
    );
    this.#options.unanswered.set(turn.id, { text, ended: turn.ended });
    const end = activity.begin();
    void turn.ended.then(end, end);
    send({ type: 'TurnStarted', reply_to: request.id, turn_id: turn.id, stream, text });
  }

  #ended({ turn_id, status, text }: ServerFrames['TurnComplete']): void {
    const { unanswered } = this.#options;
    const turn = unanswered.get(turn_id);
    if (turn?.interruptedBy !== undefined && status === 'cancelled' && text === '') return;
    unanswered.delete(turn_id);
  }
}
