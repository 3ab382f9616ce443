/** What the people who run the server use of it: as much as one client. All their ports share it. */
export interface OperatorShare {
  /** Begins work in a slice of the event loop; nextSlice() in it waits for another one. */
  slice<T>(work: () => T | Promise<T>): Promise<T>;
  /** Runs work on a search thread. @throws the signal's reason */
  compute<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T>;
  /** Waiting work goes on without a share. */
  leave(): void;
}
