/** Whose mistake an error is: the client's request, the server's set-up, or a defect of lorekeep's own. */
type Fault = 'client' | 'operator' | 'server';

export interface ErrorRow {
  readonly name: string;
  readonly fault: Fault;
  readonly meaning: string;
  readonly remedy: string;
}

/** Every code of an Error frame. 1xxx protocol, 2xxx session, 3xxx paths, 4xxx agents, 5xxx models, 6xxx limits, 8xxx storages. */
export const errorTable = {
  1001: {
    name: 'MalformedFrame',
    fault: 'client',
    meaning:
      'The bytes are not a frame, or its payload is not one UTF-8 JSON object within the nesting limits.',
    remedy: 'Check the framing: 1 byte kind, 4 bytes big-endian length, payload.',
  },
  1002: {
    name: 'UnknownFrameType',
    fault: 'client',
    meaning: '`type` is missing or names no request of this protocol version.',
    remedy: 'Compare with the table of frames; `details.nearest` may name the one that was meant.',
  },
  1003: {
    name: 'FrameTooLarge',
    fault: 'client',
    meaning:
      'A frame is longer than `max_frame_mb`. A request this long closes the connection; a reply does not.',
    remedy: 'Send less at a time, ask for fewer hits, or raise `max_frame_mb`.',
  },
  1004: {
    name: 'InvalidField',
    fault: 'client',
    meaning:
      'A field is missing, unknown, there twice, of the wrong type or out of range; `details.path` says which.',
    remedy: 'Correct the named field.',
  },
  1005: {
    name: 'UnsupportedFeature',
    fault: 'client',
    meaning:
      'The request is right, but this version of the server cannot serve it yet; `details.feature` says what.',
    remedy: 'Leave the feature out, or use a later version.',
  },
  1006: {
    name: 'FrameTimeout',
    fault: 'client',
    meaning: 'A frame was begun and not finished in time. The connection is closed.',
    remedy:
      'Send each frame in one go; between frames a client with a session may be silent for as long as it likes.',
  },
  1008: {
    name: 'ServerShuttingDown',
    fault: 'operator',
    meaning: 'The server is stopping and takes no new work.',
    remedy: 'Connect again when it is back.',
  },
  1009: {
    name: 'InternalError',
    fault: 'server',
    meaning: "A defect of lorekeep's own. The request ended, the connection did not.",
    remedy: "Report it with the server's log.",
  },
  2001: {
    name: 'SessionNotFound',
    fault: 'client',
    meaning:
      'This connection has no such session: it never had, it has ended, or it belongs to another connection.',
    remedy: 'Use the `session_id` that CreateSessionResponse gave on this connection.',
  },
  2002: {
    name: 'SessionEnded',
    fault: 'client',
    meaning: 'The session ended while the request was running.',
    remedy: 'Nothing, when ending it was meant.',
  },
  2003: {
    name: 'TooManySessions',
    fault: 'client',
    meaning: 'The connection has as many sessions as it may have.',
    remedy: 'Destroy one that is not needed, or open another connection.',
  },
  2010: {
    name: 'AccessTokenMissing',
    fault: 'client',
    meaning: 'The server wants an access token, and CreateSessionRequest has none.',
    remedy: "Send `access_token`; the server's operator knows it.",
  },
  2011: {
    name: 'AccessTokenWrong',
    fault: 'client',
    meaning: "`access_token` is not the server's.",
    remedy: 'Correct the token. The server reads its own when it starts.',
  },
  2012: {
    name: 'TooManyWrongTokens',
    fault: 'client',
    meaning:
      'Too many wrong access tokens came from this address, or from all together; this one was not looked at.',
    remedy: 'Wait for `details.retry_after_ms`.',
  },
  3009: {
    name: 'StorageOutsideRoot',
    fault: 'client',
    meaning: 'A path is absolute or leaves the storage root.',
    remedy: 'Give a path inside the storage root.',
  },
  3010: {
    name: 'StorageFileNotFound',
    fault: 'client',
    meaning:
      "A path is inside the storage root, but the file is absent, or no client may open it: the server's own files, and what is in /proc, /sys and /dev.",
    remedy: 'Check the path and the storage root.',
  },
  3011: {
    name: 'SessionFolderRefused',
    fault: 'client',
    meaning: 'Sessions may not use the folder that `storage_data_folder` names, whether it exists or not.',
    remedy:
      "Leave the field out, or name a folder inside the storage root. The operator opens others with `session_folders` in the server's config.",
  },
  4001: {
    name: 'UnknownNodeType',
    fault: 'client',
    meaning: "A node's `type` is not one that this version has.",
    remedy: 'Use one of `details.known`.',
  },
  4002: {
    name: 'UnknownParam',
    fault: 'client',
    meaning: 'A node has a param that its type does not know.',
    remedy: 'Correct the name; `details.nearest` may name the one that was meant.',
  },
  4003: {
    name: 'InvalidParam',
    fault: 'client',
    meaning: 'A param of a node is missing, of the wrong type, out of range, or gave nothing to work with.',
    remedy: 'Correct the param at `details.path`.',
  },
  4004: {
    name: 'DuplicateNodeId',
    fault: 'client',
    meaning: 'Two nodes of one graph have the same id.',
    remedy: 'Give each node its own id.',
  },
  4005: {
    name: 'DanglingEdge',
    fault: 'client',
    meaning: 'An edge, or a param that names a node (`on_match`), names one that the graph does not have.',
    remedy: 'Correct what is at `details.path`.',
  },
  4006: {
    name: 'GraphCycle',
    fault: 'client',
    meaning: 'Edges and `on_match` lead back to where they started.',
    remedy: 'Remove one of the steps along `details.cycle`.',
  },
  4007: {
    name: 'AgentNotFound',
    fault: 'client',
    meaning: 'The session has no such agent.',
    remedy: 'Use the `agent_id` that CreateAgentResponse gave in this session.',
  },
  4008: {
    name: 'TurnNotFound',
    fault: 'client',
    meaning:
      'The session has no such turn under way: `details.ended` says whether it has ended or never was.',
    remedy: 'Nothing, when its TurnComplete crossed the request; otherwise use the `turn_id` of TurnStarted.',
  },
  4009: {
    name: 'TurnQueueFull',
    fault: 'client',
    meaning: 'The session has as many unfinished turns as it may have.',
    remedy: 'Wait for a TurnComplete before the next turn.',
  },
  4010: {
    name: 'InvalidStringStorage',
    fault: 'client',
    meaning:
      'A text file of responses or patterns is unusable: too large, unreadable, not UTF-8, without a line, or with a bad pattern.',
    remedy: 'Correct the file; the message and `details` name it, the line and the pattern.',
  },
  4011: {
    name: 'DefaultListMissing',
    fault: 'operator',
    meaning:
      "A node without `string_storage` needs one of the server's default lists, whose file is not there.",
    remedy: 'Put the file where the config field in `details.field` says, or give the node its own.',
  },
  4012: {
    name: 'MessageTooLong',
    fault: 'client',
    meaning: 'A message is longer than a guardrail looks at, so the turn fails rather than go unchecked.',
    remedy: 'Send a message of at most `details.limit` characters.',
  },
  4013: {
    name: 'TooManyAgents',
    fault: 'client',
    meaning: 'The session has as many agents as it may have.',
    remedy: 'Destroy one that is not needed, or use another session.',
  },
  4014: {
    name: 'InteractionTooLarge',
    fault: 'client',
    meaning: 'What the nodes of one turn found and replied is together more than `max_frame_mb`.',
    remedy: 'Ask for fewer hits (`top_k`), or in fewer nodes.',
  },
  5001: {
    name: 'ModelLoadFailed',
    fault: 'operator',
    meaning: 'A model of the catalog could not be loaded: its file is absent, damaged or of an unknown kind.',
    remedy: "Put the file where the catalog says it is; the server's log has the path.",
  },
  5002: {
    name: 'TextTooLong',
    fault: 'client',
    meaning:
      "A text has more tokens than the embedding model's context, or more characters than a query may have; `details` has `tokens` or `length`, and `limit`.",
    remedy: 'Shorten the text.',
  },
  5003: {
    name: 'OutOfMemory',
    fault: 'operator',
    meaning: 'The machine could not give the memory that the request needed.',
    remedy: 'Make storages smaller, or give the machine more memory.',
  },
  5004: {
    name: 'TextWithoutTokens',
    fault: 'client',
    meaning: 'A text has nothing that the embedding model can see, such as blanks alone.',
    remedy: 'Send a text with words.',
  },
  5005: {
    name: 'EmbeddingFailed',
    fault: 'operator',
    meaning: 'The model computed values that are not numbers.',
    remedy: 'Its file is damaged or does not suit this processor: use another one.',
  },
  6001: {
    name: 'ClientMemoryExceeded',
    fault: 'client',
    meaning:
      'The client would make the server hold more than `max_client_memory_mb` allows; `details` has both numbers. A request is refused; a frame that can never be received closes the connection.',
    remedy: 'Destroy agents, storages or sessions, send less at a time, or raise `max_client_memory_mb`.',
  },
  6002: {
    name: 'ServerMemoryExceeded',
    fault: 'operator',
    meaning:
      'All clients together would make the server hold more than `max_memory_mb` allows. A request is refused; a connection is closed when it is the largest consumer and clients have waited for `limits.memory_wait_ms`.',
    remedy: 'Try again later, send less at a time, or raise `max_memory_mb`.',
  },
  6003: {
    name: 'TooManyConnections',
    fault: 'operator',
    meaning: 'The server, or the address, has as many connections as it may have. The connection is closed.',
    remedy:
      'Close connections that are not needed, or raise `limits.max_connections` or `limits.max_connections_per_address`.',
  },
  6004: {
    name: 'IdleConnection',
    fault: 'client',
    meaning:
      'The connection had no session and sent nothing for `limits.idle_connection_timeout_ms`. It is closed.',
    remedy: 'Connect when a session is needed, or send a Ping from time to time.',
  },
  6005: {
    name: 'OutOfDescriptors',
    fault: 'operator',
    meaning:
      'The server has as many files and connections open as the system lets it (EMFILE). A connection is closed; a request is refused, and the file that it names may be right.',
    remedy: 'Try again later, close connections that are not needed, or raise the limit (`ulimit -n`).',
  },
  8001: {
    name: 'InvalidStorageName',
    fault: 'client',
    meaning: 'A storage name is empty, malformed or reserved.',
    remedy:
      'Use letters, digits, dot, underscore and hyphen, at most 128, not ending in `.json`, not `lorekeep.…`.',
  },
  8002: {
    name: 'StorageNameTaken',
    fault: 'client',
    meaning: 'A storage of this name exists in the session, or is being made.',
    remedy: 'Use another name, or destroy the other storage first.',
  },
  8003: {
    name: 'InvalidEmbeddedStringStorageData',
    fault: 'client',
    meaning:
      'Strings, config, records or an index file that no storage can be made of, or an unknown embedding model.',
    remedy: 'Correct what the message names; `details` has the string, or the file, line, record and field.',
  },
  8004: {
    name: 'AmbiguousStorageSource',
    fault: 'client',
    meaning: 'Both or neither of `config_path` and `strings` are set.',
    remedy: 'Set exactly one of them.',
  },
  8005: {
    name: 'StorageNotFound',
    fault: 'client',
    meaning: 'The session has no storage of this name.',
    remedy: 'Create it first; `details.nearest` may name the one that was meant.',
  },
  8006: {
    name: 'TooManyStorages',
    fault: 'client',
    meaning: 'The session has as many named storages as it may have.',
    remedy: 'Destroy one that is not needed, or use another session.',
  },
} as const satisfies Readonly<Record<number, ErrorRow>>;

export type ErrorCode = keyof typeof errorTable;

/** Named facts about an error, for programs; `message` is for people. */
export type ErrorDetails = Readonly<Record<string, unknown>>;

/**
 * What an Error frame carries. The server throws it to refuse one request; the client throws it when it receives one.
 * `name` is the code's name, as on the wire. A newer server may send codes that this table lacks.
 */
export class ServerError extends Error {
  override readonly name: string;
  readonly code: number;
  readonly details: ErrorDetails;

  constructor(
    code: number,
    name: string,
    message: string,
    details: ErrorDetails = {},
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.code = code;
    this.name = name;
    this.details = details;
  }
}

export function serverError(
  code: ErrorCode,
  message: string,
  details?: ErrorDetails,
  options?: ErrorOptions,
): ServerError {
  return new ServerError(code, errorTable[code].name, message, details, options);
}

/** Refuses a request. */
export function fail(code: ErrorCode, message: string, details?: ErrorDetails): never {
  throw serverError(code, message, details);
}
