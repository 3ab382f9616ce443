/** Files of one kind that were left out. */
export interface LeftOut {
  /** The ending with its dot, in small letters; "" for names without one. */
  ending: string;
  files: number;
  /** The flag that reads them; absent if none does. */
  flag?: string;
}
