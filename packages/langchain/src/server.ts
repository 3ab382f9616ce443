/** Where a server's HTTP door is, and the key for it. */
export interface ServerFields {
  /** Address of the door. Default: http://127.0.0.1:9103 */
  url?: string;
  /** Key of `http.keys_file`, or the access token. Default: none. */
  apiKey?: string;
}

const defaultUrl = 'http://127.0.0.1:9103';

interface Failure {
  readonly message: string;
  readonly code: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** A refusal of the server. */
export class LorekeepError extends Error {
  override readonly name = 'LorekeepError';
  readonly status: number;
  /** Name of the error: docs/reference/errors.md. */
  readonly code: string;
  /** Facts of the error: docs/reference/errors.md. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(status: number, { message, code, details }: Failure) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
  }
}

/** The HTTP door of a server. */
export class Server {
  readonly url: string;
  readonly apiKey: string | undefined;

  constructor({ url = defaultUrl, apiKey }: ServerFields) {
    this.url = url.replace(/\/+$/, '');
    this.apiKey = apiKey;
  }

  /** @throws LorekeepError */
  async post<Reply>(path: string, body: object, signal?: AbortSignal): Promise<Reply> {
    const response = await fetch(`${this.url}${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(this.apiKey !== undefined && { authorization: `Bearer ${this.apiKey}` }),
      },
      body: JSON.stringify(body),
      signal: signal ?? null,
    });
    if (response.ok) return (await response.json()) as Reply;
    throw new LorekeepError(response.status, errorIn(await response.text()));
  }
}

function errorIn(text: string): Failure {
  try {
    const { error } = JSON.parse(text) as {
      error: { message: string; code: string | null; lorekeep?: { details: Failure['details'] } };
    };
    return { message: error.message, code: error.code ?? 'error', details: error.lorekeep?.details ?? {} };
  } catch {
    return { message: text.slice(0, 500), code: 'error', details: {} };
  }
}

/** The address of the records of a storage. */
export const recordsOf = (storage: string) => `/v1/storages/${encodeURIComponent(storage)}/records`;
