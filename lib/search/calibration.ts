/** Corrects relevance for judges whose judgments are known: log odds = offset + slope * estimated log odds. */
export interface Calibration {
  /** -20 to 20, default 0. Above 0: records are relevant more often than estimated. */
  offset?: number | undefined;
  /** 0.01 to 10, default 1. Below 1: relevance separates the records less well than estimated. */
  slope?: number | undefined;
}

export const calibrationRange = {
  offset: { min: -20, max: 20, usual: 0 },
  slope: { min: 0.01, max: 10, usual: 1 },
} as const;
