/** Receives complete lines, including line ends. Never throws: a failing log must not stop the caller. */
export interface LogSink {
  /** `level`: pino's number. */
  write(line: string, level: number): void;
}

/** Pino's level numbers. */
export const levelNumbers = { trace: 10, debug: 20, info: 30, warn: 40, error: 50 } as const;
