/** Runs questions of which only the latest counts: an answer to an earlier one is dropped, however late it comes. */
export class Latest {
  #controller: AbortController | undefined;

  /** Cancels the question under way, and asks this one. Calls neither callback if another one has come meanwhile. */
  ask<T>(
    work: (signal: AbortSignal) => Promise<T>,
    onAnswer: (answer: T) => void,
    onError: (error: Error) => void,
  ): void {
    this.cancel();
    const controller = new AbortController();
    this.#controller = controller;
    const { signal } = controller;
    work(signal).then(
      (answer) => {
        if (!signal.aborted) onAnswer(answer);
      },
      (error: Error) => {
        if (!signal.aborted) onError(error);
      },
    );
  }

  cancel(): void {
    this.#controller?.abort();
    this.#controller = undefined;
  }
}
