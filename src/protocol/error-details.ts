/** The field of the request, or of the graph, that the error is about. */
type At = {
  /** The field: `topK` of a request is `top_k`, and `graph.nodes[1].params.top_k` a param. */
  readonly path: string;
};

type Nearest = {
  /** The nearest known name, where one is near. */
  readonly nearest?: string | undefined;
};

type Limit = {
  /** The limit. */
  readonly limit: number;
};

type Filter = {
  /** Place inside a filter. */
  readonly filter_path?: string | undefined;
  /** Value that the filter expects. */
  readonly expected?: string | undefined;
};

type Empty = Readonly<Record<never, never>>;

type Memory = {
  /** Whose budget would be exceeded. */
  readonly budget: 'client' | 'server';
  /** Whether the limit is for V8's heap alone, or for all memory. */
  readonly memory: 'heap' | 'total';
  /** Bytes that would be in use. */
  readonly needed: number;
} & Limit;

type File = {
  /** The file, as the request or the config names it. */
  readonly file?: string | undefined;
  /** The field of the config file. */
  readonly field?: string | undefined;
};

/** A record or string that is not valid for a storage. */
type StorageData = File & {
  /** The field of the request. */
  readonly path?: string | undefined;
  /** The name or path of a storage. */
  readonly storage?: string | undefined;
  /** Line of the records file, from 1. */
  readonly line?: number | undefined;
  /** Position of the record, from 0. */
  readonly record?: number | undefined;
  /** The record's id. */
  readonly id?: string | undefined;
  /** Position of the string, from 0. */
  readonly index?: number | undefined;
  /** Tokens of the text, of at most `limit`. */
  readonly tokens?: number | undefined;
  /** The limit that was exceeded. */
  readonly limit?: number | undefined;
  /** Number of strings, of at most `limit`. */
  readonly count?: number | undefined;
  /** The thing that the index file does not fit. */
  readonly mismatch?: string | undefined;
  /** Names of the embedding models. */
  readonly known?: readonly string[] | undefined;
} & Nearest;

/** The `details` of an error by its code. An error of a newer server may have more. */
/** Ids that a batch is refused for. */
type Ids = {
  /** The first 100. */
  readonly ids: readonly string[];
  /** Number of all. */
  readonly count: number;
};

export interface ErrorDetailsByCode {
  1001: Partial<At & Limit> & {
    /** The kind of the frame, where it is not a known one. */
    readonly kind?: number | undefined;
  };
  1002: { readonly known: readonly string[] } & Nearest;
  1003: Limit & {
    /** Bytes of the frame, as far as they are known. */
    readonly length?: number | undefined;
  };
  1004: At & Nearest & Filter & Partial<Limit>;
  1006: {
    /** Milliseconds for one frame. */
    readonly limit_ms: number;
  };
  1008: Empty;
  1009: Empty;
  2001: At;
  2002: Empty;
  2003: Limit;
  2010: At;
  2011: At;
  2012: At & {
    /** Milliseconds until a token is checked again. */
    readonly retry_after_ms: number;
  };
  2013: Partial<At> & {
    /** The missing right. */
    readonly right: string;
  };
  2014: Empty;
  2015: At;
  2016: Limit & {
    /** The field of the server config that sets the limit. */
    readonly field: string;
  };
  2017: Empty;
  3009: At & File;
  3010: At & File & Nearest;
  3011: At;
  4001: At & Nearest & { readonly known: readonly string[] };
  4002: At & Nearest;
  4003: At &
    Nearest &
    Filter &
    Partial<Limit> & {
      /** Names that are known, of a model. */
      readonly known?: readonly string[] | undefined;
      /** JSON pointer into a schema. */
      readonly pointer?: unknown;
      /** Tokens that the params ask for. */
      readonly tokens?: number | undefined;
      /** Tokens of the context. */
      readonly context?: number | undefined;
    };
  4004: At & {
    /** Position of the node that has the id already. */
    readonly first: number;
  };
  4005: At & Nearest;
  4006: At & {
    /** Ids of the nodes in the circle. */
    readonly cycle: readonly string[];
  };
  4007: At;
  4008: At & {
    /** true: the turn has ended; false: it never existed. */
    readonly ended: boolean;
  };
  4009: Limit;
  4010: At &
    File &
    Partial<Limit> & {
      /** Line of the file, from 1. */
      readonly line?: number | undefined;
      /** The regular expression. */
      readonly pattern?: string | undefined;
    };
  4011: At & {
    /** The field of the server config that names the default file. */
    readonly field: string;
  };
  4012: At &
    Limit & {
      /** Id of the node. */
      readonly node: string;
      /** Characters of the message. */
      readonly length: number;
    };
  4013: Limit;
  4014: Limit;
  4015: {
    /** Id of the node. */
    readonly node: string;
    /** Relevance of the best record; absent if none was found. */
    readonly relevance?: number | undefined;
    /** The least relevance that the node takes. */
    readonly min_relevance: number;
  };
  4016: At &
    Limit & {
      /** Tokens of the prompt. */
      readonly tokens: number;
      /** Present if counting stopped at the limit: the prompt has `tokens` or more. */
      readonly at_least?: true | undefined;
      /** Tokens of the context. */
      readonly context: number;
      /** Tokens kept for the reply. */
      readonly reserved: number;
    };
  4020: At;
  5001: {
    /** Catalog name of the model. */
    readonly model: string;
    /** Why it cannot be loaded. */
    readonly reason: string;
    /** Milliseconds until the server that computes it is asked again. */
    readonly retry_after_ms?: number | undefined;
  };
  5002: At &
    Limit & {
      /** Tokens of the text. */
      readonly tokens?: number | undefined;
      /** Characters of the text, where those are limited. */
      readonly length?: number | undefined;
    };
  5003: {
    /** Catalog name of a model that did not fit. */
    readonly model?: string | undefined;
  };
  5004: At & Partial<Limit> & { readonly tokens?: number | undefined };
  5005: At;
  5006: Empty;
  5007: {
    /** Catalog name of the model. */
    readonly model?: string | undefined;
    /** The field of the server config that forbids it. */
    readonly field: string;
    /** Bytes of the download. */
    readonly bytes?: number | undefined;
    /** Bytes that the folder of downloads may still take. */
    readonly allowed?: number | undefined;
  };
  5008: {
    /** Catalog name of the model. */
    readonly model: string;
  };
  5009: {
    /** Catalog name of the model. */
    readonly model: string;
  };
  5010: At &
    Nearest & {
      /** Names of all models. */
      readonly known?: readonly string[] | undefined;
    };
  5011: Empty;
  6001: Memory;
  6002: Memory;
  6003: Limit & {
    /** The field of the server config that sets the limit. */
    readonly field: string;
  };
  6004: {
    /** Milliseconds that a connection without a session may be silent. */
    readonly limit_ms: number;
  };
  6005: Empty;
  7001: At;
  7002: Limit;
  7003: {
    /** Number of the stream; absent if the frame names none. */
    readonly stream?: number | undefined;
    /** The sequence number or the number of bytes that the frame has. */
    readonly found?: number | undefined;
    /** The sequence number that is expected, the bytes of a sample of all channels, or the credit in bytes. */
    readonly expected?: number | undefined;
  };
  8001: At & {
    /** The name, cut. */
    readonly name: string;
  };
  8002: At & { readonly name: string };
  8003: StorageData;
  8004: {
    /** Which of the three fields are set. */
    readonly set: readonly string[];
  };
  8005: At & Nearest;
  8006: At & Limit;
  8007: At & Ids;
  8008: At & Ids;
  8009: At & Ids;
  8010: At & {
    /** The storage's version. */
    readonly version: number;
  };
  8011: At;
  8012: At & {
    readonly storage_writes: string;
  };
  8013: At;
  8014: At;
  8020: At;
  8021: At &
    Limit & {
      /** The field of the server config that sets the limit. */
      readonly field: string;
    };
  8022: At &
    Limit & {
      /** The field of the server config that sets the limit. */
      readonly field: string;
    };
}

/** The details of an error with this code. */
export type ErrorDetailsOf<Code extends keyof ErrorDetailsByCode> = ErrorDetailsByCode[Code];
