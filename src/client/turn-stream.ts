import type { ServerFrames } from '../protocol/frames.js';
import type { TurnEvent } from './channel.js';

type Heard = TurnEvent | ServerFrames['TurnComplete'];

/** Runs a turn and tells of it; resolves with its end. */
type RunTurn = (
  signal: AbortSignal,
  onEvent: (event: TurnEvent) => void,
) => Promise<ServerFrames['TurnComplete']>;

/** A turn as an iterable. It starts with the first next(); leaving early aborts it. */
export async function* streamTurn(
  outer: AbortSignal | undefined,
  run: RunTurn,
): AsyncGenerator<Heard, void, undefined> {
  const left = new AbortController();
  const signal = outer === undefined ? left.signal : AbortSignal.any([outer, left.signal]);
  const heard: Heard[] = [];
  let wake = () => {};
  const tell = (event: Heard) => {
    heard.push(event);
    wake();
  };
  let ended = false;
  let failure: { error: unknown } | undefined;
  const running = run(signal, tell).then(
    (complete) => tell(complete),
    (error) => {
      failure = { error };
    },
  );
  const over = running.then(() => {
    ended = true;
    wake();
  });
  try {
    for (;;) {
      for (let event = heard.shift(); event !== undefined; event = heard.shift()) yield event;
      if (ended) break;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    if (failure !== undefined) throw (failure as { error: unknown }).error;
  } finally {
    left.abort();
    await over;
  }
}
