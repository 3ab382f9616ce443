import { errorTable, ServerError } from '../../protocol/errors.js';

/** HTTP statuses of codes that their fault alone does not tell. */
const statuses: Readonly<Record<number, number>> = {
  1003: 413,
  1006: 408,
  2003: 429,
  2010: 401,
  2011: 401,
  2012: 429,
  2013: 403,
  4009: 429,
  5010: 404,
  6001: 429,
  6004: 408,
  8005: 404,
  8007: 409,
  8008: 404,
  8010: 409,
  8011: 410,
  8012: 403,
  // The operator's config names the files.
  3009: 503,
  3010: 503,
  8003: 503,
};

/** Codes by which clients of OpenAI recognise an error. */
const openAiCodes: Readonly<Record<number, string>> = {
  4012: 'context_length_exceeded',
  4016: 'context_length_exceeded',
  5002: 'context_length_exceeded',
  5010: 'model_not_found',
};

const byFault = { client: 400, operator: 503, server: 500 } as const;

/** The class of an error, in OpenAI's words. */
export function typeOf(status: number): string {
  if (status === 401) return 'authentication_error';
  if (status === 403) return 'permission_error';
  if (status === 429) return 'rate_limit_error';
  return status >= 500 ? 'server_error' : 'invalid_request_error';
}

/** An error as HTTP clients read it: in the shape of OpenAI's, with the server's code and facts. */
export interface HttpFailure {
  readonly status: number;
  /** Seconds after which another try may succeed. */
  readonly retryAfter?: number;
  readonly body: {
    readonly error: {
      readonly message: string;
      readonly type: string;
      readonly param: string | null;
      readonly code: string;
      readonly lorekeep: { readonly code: number; readonly name: string; readonly details: object };
    };
  };
}

/** Returns the name of a field in the HTTP request for its path in a frame or a graph; undefined: the same. */
export type FieldNames = (path: string) => string | undefined;

/** Errors whose paths name fields of the HTTP request itself. */
const ofRequest = new WeakSet<object>();

/** Marks an error of the request itself: its path is not one of a frame or a graph, which would be renamed. */
export function inRequest<Thrown>(error: Thrown): Thrown {
  if (error instanceof ServerError) ofRequest.add(error);
  return error;
}

/** Where a secret travels. */
const secretField = 'Authorization';

/** Whose fault an error is. */
export function faultOf({ code }: ServerError): keyof typeof byFault {
  const table: Record<number, { fault: keyof typeof byFault } | undefined> = errorTable;
  return table[code]?.fault ?? 'server';
}

/** Translates an error of the server, whose paths name fields of frames, for the author of an HTTP request. */
export function httpFailure(error: ServerError, names: FieldNames = () => undefined): HttpFailure {
  const { code, name, details } = error;
  const unknownModel = isUnknownModel(error);
  const { path, retry_after_ms } = details as { path?: string; retry_after_ms?: number };
  const status = unknownModel ? 404 : statusOf(code, faultOf(error), path);
  const field =
    path === undefined || ofRequest.has(error)
      ? path
      : path === 'access_token'
        ? secretField
        : (names(path) ?? path);
  const message = field === undefined ? error.message : error.messageAbout(field);
  const retryAfter =
    status === 429 || status === 503 ? Math.max(1, Math.ceil((retry_after_ms ?? 1000) / 1000)) : undefined;
  return {
    status,
    ...(retryAfter !== undefined && { retryAfter }),
    body: {
      error: {
        message,
        type: typeOf(status),
        param: field ?? null,
        code: unknownModel ? 'model_not_found' : (openAiCodes[code] ?? snake(name)),
        lorekeep: { code, name, details },
      },
    },
  };
}

function statusOf(code: number, fault: keyof typeof byFault, path = ''): number {
  // The client has written the records of a batch; other data is the operator's.
  if (code === 8003 && /^(add|replace)\b/.test(path)) return 400;
  return statuses[code] ?? byFault[fault];
}

/** Clients look for this case by its code. */
function isUnknownModel({ code, details }: ServerError): boolean {
  return (code === 4003 || code === 1004) && 'known' in details && details.known !== undefined;
}

const snake = (name: string) => name.replace(/(?<=[a-z\d])(?=[A-Z])/g, '_').toLowerCase();

/** A refusal by the door itself, without a code of the protocol. */
export class HttpRefusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly param: string | undefined;

  constructor(status: number, code: string, message: string, param?: string) {
    super(message);
    this.status = status;
    this.code = code;
    this.param = param;
  }

  get body() {
    const { message, status, param = null, code } = this;
    return { error: { message, type: typeOf(status), param, code } };
  }
}
