// The history of the requests of one run. A run is a list of requests that start, end or are cancelled by each other's progress, so that
// every contestant plays the same scene:
//
//   {name, prompt, maxTokens, class, after?: {name, tokens} | {name, cancelled: true}, until?: {name, tokens} | {ms}}
//
// A request starts when the request `after` has that many tokens or was cancelled, and is cancelled when `until` has that many, or after
// `ms`. 0 tokens: when that one has started.
// The result is name -> {startMs, tokenMs: [...], cancelledMs?, endMs}, in ms since the run began.

/**
 * @param open called with a request; returns an async iterable of arrivals (each a number of tokens) with cancel()
 */
export async function play(requests, open) {
  const begin = performance.now();
  const now = () => performance.now() - begin;
  const seen = new Map(requests.map(({ name }) => [name, new Progress()]));
  const reached = ({ name, tokens, cancelled, ms }) => {
    if (ms !== undefined) return new Promise((resolve) => setTimeout(resolve, ms));
    return cancelled ? seen.get(name).cancelled : seen.get(name).reaches(tokens);
  };
  const results = await Promise.all(
    requests.map(async (request) => {
      const { name, after, until } = request;
      if (after) await reached(after);
      const progress = seen.get(name);
      const entry = { startMs: now(), tokenMs: [] };
      const stream = open(request);
      progress.advance(0);
      let cancelled = false;
      if (until)
        void reached(until).then(() => {
          if (entry.endMs !== undefined) return;
          cancelled = true;
          entry.cancelledMs = now();
          stream.cancel();
          progress.cancel();
        });
      for await (const count of stream) {
        for (let i = 0; i < count; i++) entry.tokenMs.push(now());
        progress.advance(entry.tokenMs.length);
        if (cancelled) break;
      }
      entry.endMs = now();
      progress.end();
      return [name, entry];
    }),
  );
  return Object.fromEntries(results);
}

/** The number of tokens of a request, and who waits for it. */
class Progress {
  #tokens = -1;
  #waiting = [];
  #cancel;
  cancelled = new Promise((resolve) => {
    this.#cancel = resolve;
  });

  cancel() {
    this.#cancel();
  }

  advance(tokens) {
    this.#tokens = tokens;
    const ready = this.#waiting.filter((one) => one.tokens <= tokens);
    this.#waiting = this.#waiting.filter((one) => one.tokens > tokens);
    for (const { resolve } of ready) resolve();
  }

  end() {
    this.advance(Number.POSITIVE_INFINITY);
  }

  reaches(tokens) {
    if (this.#tokens >= tokens) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting.push({ tokens, resolve });
    });
  }
}

/** Times between successive tokens. */
export function gaps({ tokenMs }) {
  return tokenMs.slice(1).map((at, i) => at - tokenMs[i]);
}

export const firstTokenMs = ({ startMs, tokenMs }) => tokenMs[0] - startMs;
