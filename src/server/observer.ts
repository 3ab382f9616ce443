import type { ForgottenTexts } from '../agents/forgotten-texts.js';
import type { TurnFacts } from '../agents/turn-facts.js';
import type { RequestType } from '../protocol/frames.js';

/** An answered request. */
export interface RequestFacts {
  readonly type: RequestType;
  /** Error code; undefined if it succeeded. */
  readonly code: number | undefined;
  /** Time from its parsing to its answer, in ms. */
  readonly durationMs: number;
}

/** Is told of events of the running server: telemetry, metrics, the monitor. Its methods never throw. */
export interface ServerObserver {
  turn?(facts: TurnFacts): void;
  request?(facts: RequestFacts): void;
  /** A frame was not a valid request; with the error code. */
  invalid?(code: number): void;
  /** A client was turned away, with an error code. */
  refused?(code: number): void;
  /** Records with these texts were forgotten: it keeps no text that quotes them. */
  forgotten?(texts: ForgottenTexts): Promise<void>;
}

/** Returns one observer that notifies all; undefined if there is none, so that observing costs nothing. */
export function allOf(observers: readonly (ServerObserver | undefined)[]): ServerObserver | undefined {
  const present = observers.filter((observer) => observer !== undefined);
  if (present.length === 0) return undefined;
  return {
    turn: (facts) => {
      for (const observer of present) observer.turn?.(facts);
    },
    request: (facts) => {
      for (const observer of present) observer.request?.(facts);
    },
    invalid: (code) => {
      for (const observer of present) observer.invalid?.(code);
    },
    refused: (code) => {
      for (const observer of present) observer.refused?.(code);
    },
    forgotten: async (texts) => {
      for (const observer of present) await observer.forgotten?.(texts);
    },
  };
}
