/** Cause of an error: the client's request, the server's set-up, or a bug in lorekeep. */
type Fault = 'client' | 'operator' | 'server';

export interface ErrorRow {
  readonly name: string;
  readonly fault: Fault;
  readonly meaning: string;
  readonly remedy: string;
}

/** Every code of an Error frame. 1xxx protocol, 2xxx session, 3xxx paths, 4xxx agents, 5xxx models, 6xxx limits, 7xxx speech, 8xxx storages. */
export const errorTable = {
  1001: {
    name: 'MalformedFrame',
    fault: 'client',
    meaning: 'The bytes are not a frame, or the payload is not one UTF-8 JSON object within the limits.',
    remedy: 'Check the framing: 1 byte kind, 4 bytes big-endian length, payload.',
  },
  1002: {
    name: 'UnknownFrameType',
    fault: 'client',
    meaning: '`type` is missing or unknown to this protocol version.',
    remedy: 'Use a type from docs/reference/protocol.md; `details.nearest` may suggest one.',
  },
  1003: {
    name: 'FrameTooLarge',
    fault: 'client',
    meaning:
      'A frame is longer than `max_frame_mb`. A request that is too long closes the connection; a reply does not.',
    remedy: 'Send smaller frames, ask for fewer hits, or raise `max_frame_mb`.',
  },
  1004: {
    name: 'InvalidField',
    fault: 'client',
    meaning:
      'A field is missing, unknown, duplicated, of the wrong type or out of range; `details.path` names it.',
    remedy: 'Correct the named field.',
  },
  1006: {
    name: 'FrameTimeout',
    fault: 'client',
    meaning: 'A frame was not complete in time. The connection is closed.',
    remedy:
      'Send each frame without pauses. Between frames, a client with a session may be silent for any time.',
  },
  1008: {
    name: 'ServerShuttingDown',
    fault: 'operator',
    meaning: 'The server is stopping and accepts no new work.',
    remedy: 'Reconnect after the restart.',
  },
  1009: {
    name: 'InternalError',
    fault: 'server',
    meaning: 'A bug in lorekeep. The request fails; the connection stays open.',
    remedy: "Report it with the server's log.",
  },
  2001: {
    name: 'SessionNotFound',
    fault: 'client',
    meaning:
      'This connection has no such session: the id is wrong, or the session has ended or belongs to another connection.',
    remedy: 'Use the `session_id` of a CreateSessionResponse on this connection.',
  },
  2002: {
    name: 'SessionEnded',
    fault: 'client',
    meaning: 'The session ended while the request was running.',
    remedy: 'Nothing, if you ended it on purpose.',
  },
  2003: {
    name: 'TooManySessions',
    fault: 'client',
    meaning: 'The connection has reached its limit of sessions.',
    remedy: 'Destroy one, or open another connection.',
  },
  2010: {
    name: 'AccessTokenMissing',
    fault: 'client',
    meaning:
      'The server requires an access token, and CreateSessionRequest has none, or the connection has had no session.',
    remedy: "Send `access_token`; ask the server's operator for it.",
  },
  2011: {
    name: 'AccessTokenWrong',
    fault: 'client',
    meaning: "`access_token` is not the server's.",
    remedy: 'Correct the token. The server reads its token file only at startup.',
  },
  2012: {
    name: 'TooManyWrongTokens',
    fault: 'client',
    meaning:
      'Too many wrong access tokens came from this address or from all addresses; this token was not checked.',
    remedy: 'Wait for `details.retry_after_ms`.',
  },
  2013: {
    name: 'RightMissing',
    fault: 'client',
    meaning: 'The key of this client does not allow the request; `details.right` names the missing right.',
    remedy: 'Use another key, or add the right to it in `http.keys_file`.',
  },
  2014: {
    name: 'SessionTaken',
    fault: 'client',
    meaning:
      'Another connection has resumed this kept session. It has ended here; its last turn is not kept.',
    remedy: 'Go on with the connection that resumed it last.',
  },
  2015: {
    name: 'KeptSessionNotFound',
    fault: 'client',
    meaning:
      'No kept session has this secret. A wrong secret, a session that has expired and one that was destroyed are the same error.',
    remedy: 'Create a new session.',
  },
  2016: {
    name: 'KeptSessionsFull',
    fault: 'client',
    meaning: 'No more can be kept; `details.field` names the limit.',
    remedy: 'Destroy sessions or agents that are done, or raise the limit.',
  },
  2017: {
    name: 'SessionNotKept',
    fault: 'operator',
    meaning:
      "The database of `session_store` does not answer, or refuses the server. The session and its agents work, but are not kept; the server's log has the reason.",
    remedy: 'Try again later.',
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
      "The path is inside the storage root, but the file does not exist or is closed to clients: the server's own files, and everything in /proc, /sys and /dev.",
    remedy:
      'Check the path and the storage root. `details.nearest` may suggest the name of a storage of the session.',
  },
  3011: {
    name: 'SessionFolderRefused',
    fault: 'client',
    meaning: 'Sessions may not use the folder in `storage_data_folder`, whether it exists or not.',
    remedy:
      'Omit the field, or name a folder inside the storage root. The operator allows other folders with `session_folders`.',
  },
  4001: {
    name: 'UnknownNodeType',
    fault: 'client',
    meaning: "A node's `type` is unknown to this version.",
    remedy: 'Use one of `details.known`.',
  },
  4002: {
    name: 'UnknownParam',
    fault: 'client',
    meaning: "A node has a param that is unknown to the node's type.",
    remedy: 'Correct the name; `details.nearest` may suggest one.',
  },
  4003: {
    name: 'InvalidParam',
    fault: 'client',
    meaning:
      'A param of a node is missing, of the wrong type, out of range, or evaluates to something unusable, such as an empty query.',
    remedy: 'Correct the param at `details.path`.',
  },
  4004: {
    name: 'DuplicateNodeId',
    fault: 'client',
    meaning: 'Two nodes of one graph have the same id.',
    remedy: 'Give each node a unique id.',
  },
  4005: {
    name: 'DanglingEdge',
    fault: 'client',
    meaning: 'An edge or an `on_match` names a node that the graph does not have.',
    remedy: 'Correct the id at `details.path`.',
  },
  4006: {
    name: 'GraphCycle',
    fault: 'client',
    meaning: 'Edges and `on_match` form a cycle.',
    remedy: 'Remove one edge of `details.cycle`.',
  },
  4007: {
    name: 'AgentNotFound',
    fault: 'client',
    meaning: 'The session has no such agent.',
    remedy: 'Use the `agent_id` of a CreateAgentResponse in this session.',
  },
  4008: {
    name: 'TurnNotFound',
    fault: 'client',
    meaning:
      'The session has no such unfinished turn. `details.ended`: true if the turn has ended, false if it never existed.',
    remedy:
      'Nothing, if the turn ended while the request was on its way; otherwise use the `turn_id` of TurnStarted.',
  },
  4009: {
    name: 'TurnQueueFull',
    fault: 'client',
    meaning: 'The session has reached its limit of unfinished turns.',
    remedy: 'Wait for a TurnComplete before the next turn.',
  },
  4010: {
    name: 'InvalidStringStorage',
    fault: 'client',
    meaning:
      'A text file of responses or patterns is too large, unreadable, not UTF-8, empty, or has an invalid pattern.',
    remedy: 'Correct the file; the message and `details` name it, the line and the pattern.',
  },
  4011: {
    name: 'DefaultListMissing',
    fault: 'operator',
    meaning:
      'A node without `string_storage` needs a default list of the server, and that file does not exist.',
    remedy: 'Create the file that the config field in `details.field` names, or set `string_storage`.',
  },
  4012: {
    name: 'MessageTooLong',
    fault: 'client',
    meaning: 'The message is longer than a guardrail can check, so the turn fails.',
    remedy: 'Send a message of at most `details.limit` characters.',
  },
  4013: {
    name: 'TooManyAgents',
    fault: 'client',
    meaning: 'The session has reached its limit of agents.',
    remedy: 'Destroy one, or use another session.',
  },
  4014: {
    name: 'InteractionTooLarge',
    fault: 'client',
    meaning:
      'The hits and replies of one turn are together larger than `max_frame_mb`, or more than 10,000 records.',
    remedy: 'Lower `top_k`, or use fewer nodes.',
  },
  4015: {
    name: 'NoRelevantKnowledge',
    fault: 'client',
    meaning: 'No record is relevant enough, and the node has `on_no_knowledge` `refuse`.',
    remedy: 'Ask something else, lower `min_relevance`, or use `answer` or `fallback`.',
  },
  4016: {
    name: 'PromptTooLong',
    fault: 'client',
    meaning:
      'The prompt does not fit into the context, even without history and knowledge; `details` has `tokens` and `limit`, and `at_least` if counting stopped there.',
    remedy: 'Shorten the message or the templates, lower `max_tokens`, or raise `context_size`.',
  },
  4020: {
    name: 'ForgetNotPending',
    fault: 'client',
    meaning: 'No action of this session waits for this confirmation; it may have expired.',
    remedy: 'Answer a TurnForget within its `expires_in_ms`, once.',
  },
  5001: {
    name: 'ModelLoadFailed',
    fault: 'operator',
    meaning:
      'A model of the catalog could not be loaded: its file is missing, damaged or of an unknown kind, or the server that computes it fails.',
    remedy:
      "Put the model file at the catalog's path, or see to the other server; the server's log names it.",
  },
  5002: {
    name: 'TextTooLong',
    fault: 'client',
    meaning:
      'A text is too long for a model; `details` has `tokens` and `limit`. Questions of any length are searched for: of one that is longer than the context of the embedding model, parts are embedded.',
    remedy: 'Shorten the text.',
  },
  5003: {
    name: 'OutOfMemory',
    fault: 'operator',
    meaning: 'An allocation for the request failed.',
    remedy: 'Use smaller storages, or a machine with more memory.',
  },
  5004: {
    name: 'TextWithoutTokens',
    fault: 'client',
    meaning: 'A text has no tokens for the embedding model, for example because it is blank.',
    remedy: 'Send a text with words.',
  },
  5005: {
    name: 'EmbeddingFailed',
    fault: 'operator',
    meaning: 'The model computed NaN or infinite values.',
    remedy: 'Use another model file: this one is damaged or does not work on this processor.',
  },
  5006: {
    name: 'GenerationFailed',
    fault: 'operator',
    meaning: 'The language model could not generate; the message gives the reason.',
    remedy: "Try another model file; the server's log has the details.",
  },
  5007: {
    name: 'PullRefused',
    fault: 'operator',
    meaning:
      'The server does not let clients download models (`allow_model_pulls`), or the folder of downloads is full (`models_download_max_mb`; `details` has both numbers).',
    remedy: 'Ask the operator to run `lorekeep models pull`, or to change the field.',
  },
  5008: {
    name: 'PullFailed',
    fault: 'operator',
    meaning:
      'A download failed: the network, the disk or the checksum; the message says which. Received bytes are kept for the next attempt, unless they are wrong.',
    remedy: "Try again; the server's log has the details.",
  },
  5009: {
    name: 'PullCancelled',
    fault: 'client',
    meaning: 'The download was cancelled with CancelPullRequest.',
    remedy: 'Nothing, if you cancelled it on purpose. A later pull continues where it stopped.',
  },
  5010: {
    name: 'UnknownModel',
    fault: 'client',
    meaning: 'The catalog has no model of this name, or the model has no download.',
    remedy: 'Use a name of ListModelsResponse; `details.nearest` may suggest one.',
  },
  5011: {
    name: 'DeviceLost',
    fault: 'operator',
    meaning:
      'The GPU that computed the model failed, or its memory was released for another program. Only requests of that model fail.',
    remedy: 'Send the request again: the model is loaded again, on the GPU or the CPU.',
  },
  6001: {
    name: 'ClientMemoryExceeded',
    fault: 'client',
    meaning:
      "The request would exceed the client's memory budget, `max_client_memory_mb`; `details` has both numbers.",
    remedy: 'Destroy agents, storages or sessions, send smaller requests, or raise `max_client_memory_mb`.',
  },
  6002: {
    name: 'ServerMemoryExceeded',
    fault: 'operator',
    meaning:
      'The request would exceed the memory budget of all clients, `max_memory_mb`. After clients have waited for `limits.memory_wait_ms`, the largest consumer is disconnected with this code.',
    remedy: 'Try again later, send smaller requests, or raise `max_memory_mb`.',
  },
  6003: {
    name: 'TooManyConnections',
    fault: 'operator',
    meaning: 'The server or the address has reached its limit of connections. The connection is closed.',
    remedy:
      'Close unneeded connections, or raise `limits.max_connections` or `limits.max_connections_per_address`.',
  },
  6004: {
    name: 'IdleConnection',
    fault: 'client',
    meaning:
      'The connection had no session and was silent for `limits.idle_connection_timeout_ms`. It is closed.',
    remedy: 'Connect when you need a session, or send a Ping from time to time.',
  },
  6005: {
    name: 'OutOfDescriptors',
    fault: 'operator',
    meaning:
      'The server has no free file descriptors (EMFILE). A new connection is closed; a request that opens a file is refused, although the file may be fine.',
    remedy: 'Try again later, close unneeded connections, or raise the limit (`ulimit -n`).',
  },
  7001: {
    name: 'SpeechStreamNotFound',
    fault: 'client',
    meaning: 'The session has no such open stream of speech.',
    remedy: 'Use the `stream` of an OpenSpeechResponse of this session, before its SpeechClosed.',
  },
  7002: {
    name: 'TooManySpeechStreams',
    fault: 'client',
    meaning: 'The session has reached its limit of open streams of speech.',
    remedy: 'Close one first.',
  },
  7003: {
    name: 'InvalidAudio',
    fault: 'client',
    meaning:
      'A binary frame is no audio frame, or does not fit its stream: its sequence number, its length, or more bytes than the credit. The stream is closed.',
    remedy: 'Check the frame: docs/reference/protocol.md, "Audio".',
  },
  8001: {
    name: 'InvalidStorageName',
    fault: 'client',
    meaning: 'A storage name is empty, malformed or reserved.',
    remedy:
      'Use letters, digits, dot, underscore and hyphen, at most 128 characters, not ending in `.json`, not starting with `lorekeep.`.',
  },
  8002: {
    name: 'StorageNameTaken',
    fault: 'client',
    meaning: 'The session already has a storage of this name, or is creating one.',
    remedy: 'Use another name, or destroy the other storage first.',
  },
  8003: {
    name: 'InvalidEmbeddedStringStorageData',
    fault: 'client',
    meaning:
      'The strings, config, records or index file are not valid for a storage, or the embedding model is unknown.',
    remedy: 'Correct the named value; `details` has the string, or the file, line, record and field.',
  },
  8004: {
    name: 'AmbiguousStorageSource',
    fault: 'client',
    meaning: 'None or several of `config_path`, `strings` and `records` are set.',
    remedy: 'Set exactly one.',
  },
  8005: {
    name: 'StorageNotFound',
    fault: 'client',
    meaning: 'The session has no storage of this name.',
    remedy: 'Create it first; `details.nearest` may suggest a name.',
  },
  8006: {
    name: 'TooManyStorages',
    fault: 'client',
    meaning: 'The session has reached its limit of named storages.',
    remedy: 'Destroy one, or use another session.',
  },
  8007: {
    name: 'RecordExists',
    fault: 'client',
    meaning:
      'A batch adds an id that the storage has; nothing of the batch is applied. `details.ids` lists such ids.',
    remedy: 'Use `replace`, or `upsert`.',
  },
  8008: {
    name: 'RecordNotFound',
    fault: 'client',
    meaning:
      'A batch replaces, removes or forgets an id that the storage does not have; nothing of the batch is applied. `details.ids` lists such ids.',
    remedy: 'Use `add`, or `upsert`, or leave the id out.',
  },
  8009: {
    name: 'DuplicateRecordId',
    fault: 'client',
    meaning: 'An id occurs twice in a batch; nothing of the batch is applied. `details.ids` lists such ids.',
    remedy: 'Give each id once.',
  },
  8010: {
    name: 'VersionMismatch',
    fault: 'client',
    meaning: 'The storage has another version than `if_version`; `details.version` is its version.',
    remedy: 'Read the records again, and send the batch for the new version.',
  },
  8011: {
    name: 'VersionGone',
    fault: 'client',
    meaning:
      'The version of `as_of` does not exist, or is no longer kept (`storage_versions`, `storage_versions_max_mb`, `storage_versions_max_hours`).',
    remedy: 'Use a newer version, or leave `as_of` out.',
  },
  8012: {
    name: 'StorageNotWritable',
    fault: 'operator',
    meaning: 'The server does not let clients change this storage; `details.storage_writes` is its setting.',
    remedy:
      'Change an inline storage, or ask the operator for `storage_writes` "files" and for `session_folders` that name the folder; at the doors for `writable` of `http.storages`.',
  },
  8013: {
    name: 'StorageBusy',
    fault: 'operator',
    meaning: 'Another process changes the knowledge base.',
    remedy: 'Try again when it has ended, or send the change to the server that holds the base.',
  },
  8014: {
    name: 'ChangeNotSaved',
    fault: 'operator',
    meaning:
      'A batch could not be written: the disk refuses it, the change log is damaged, or the files were replaced. Nothing of it is applied, and the storage goes on as it was.',
    remedy:
      "Open the storage again if its files were replaced. Free space, make the folder writable, or restore the log; the server's log has the reason.",
  },
  8020: {
    name: 'MemoryNotFound',
    fault: 'client',
    meaning:
      'No memory of this scope and name has this secret. A wrong secret and an unknown name are the same error.',
    remedy: 'Send the secret of the CreateAgentResponse that made the memory, or none to make another one.',
  },
  8021: {
    name: 'MemoriesFull',
    fault: 'operator',
    meaning:
      'The memories of the client, or of all clients, may take no more bytes on disk; `details.field` names the limit.',
    remedy: 'Forget something, or raise `memories_client_max_mb` or `memories_max_mb`.',
  },
  8022: {
    name: 'StoragesFull',
    fault: 'operator',
    meaning:
      'Changes of the client, or of all clients, may let knowledge bases grow by no more bytes on disk; `details.field` names the limit.',
    remedy: 'Remove records, or raise `storage_writes_client_max_mb` or `storage_writes_max_mb`.',
  },
} as const satisfies Readonly<Record<number, ErrorRow>>;
