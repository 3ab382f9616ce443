/** Work that kept its thread from others for too long. Times are processor time of the thread, in ms. */
export interface NativeLongStep {
  readonly thread: string;
  /** File, line and function. */
  readonly where: string;
  readonly ms: number;
  /** The named part that took longest; '': none. */
  readonly part: string;
  readonly partMs: number;
}
