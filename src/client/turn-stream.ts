import { onAbort } from '../../lib/basics.js';
import type { TurnEvent } from './channel.js';
import type { ServerFrames } from './frames.js';

type Heard = TurnEvent | ServerFrames['TurnComplete'];

/** Runs a turn and reports its events; resolves at its end. */
type RunTurn = (
  signal: AbortSignal,
  onEvent: (event: TurnEvent) => void,
) => Promise<ServerFrames['TurnComplete']>;

/** Returns a turn as an iterable. It starts with the first next(); leaving early aborts it. */
export async function* streamTurn(
  outer: AbortSignal | undefined,
  run: RunTurn,
): AsyncGenerator<Heard, void, undefined> {
  outer?.throwIfAborted();
  const leaving = new AbortController();
  // In Node 20, AbortSignal.any() may be garbage-collected with its sources and then never fires.
  const stopListening = onAbort(outer, () => leaving.abort(outer?.reason));
  const heard: Heard[] = [];
  let wake = () => {};
  const tell = (event: Heard) => {
    heard.push(event);
    wake();
  };
  let ended = false;
  let failure: { error: unknown } | undefined;
  const running = run(leaving.signal, tell).then(
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
      for (let event = heard.shift(); event !== undefined; event = heard.shift()) {
        outer?.throwIfAborted();
        yield event;
      }
      if (ended) break;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    if (failure !== undefined) throw (failure as { error: unknown }).error;
  } finally {
    leaving.abort();
    await over;
    stopListening();
  }
}
