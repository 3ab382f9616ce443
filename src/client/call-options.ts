/** What every call takes. */
export interface CallOptions {
  signal?: AbortSignal | undefined;
}
