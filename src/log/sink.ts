/** Takes complete lines, ending included. Never throws: what cannot be logged must not stop what logs. */
export interface LogSink {
  /** `level` is pino's number of the line's level. */
  write(line: string, level: number): void;
}

/** Numbers of the levels. */
export const levelNumbers = { trace: 10, debug: 20, info: 30, warn: 40, error: 50 } as const;
