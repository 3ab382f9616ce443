/** The server's own files, as absolute paths: no request opens them, by any of their names. */
export interface OwnFiles {
  /** Files, and folders with all that is in them. */
  readonly closed: readonly string[];
  /** Folder of the logs, whose files are closed also where the folder cannot be; "": none. */
  readonly logs: string;
}

export const noOwnFiles: OwnFiles = { closed: [], logs: '' };
