/** Where a server's HTTP door is, and the key for it. */
export interface ServerFields {
  /** Address of the door. Default: http://127.0.0.1:9103 */
  url?: string;
  /** Key of `http.keys_file`, or the access token. Default: none. */
  apiKey?: string;
}

const defaultUrl = 'http://127.0.0.1:9103';

/** A refusal of the server. */
export class LorekeepError extends Error {
  override readonly name = 'LorekeepError';
  readonly status: number;
  /** Name of the error: docs/reference/errors.md. */
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
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
    const text = await response.text();
    const { message, code } = errorIn(text);
    throw new LorekeepError(response.status, code, message);
  }
}

function errorIn(text: string): { message: string; code: string } {
  try {
    const { error } = JSON.parse(text) as { error: { message: string; code: string | null } };
    return { message: error.message, code: error.code ?? 'error' };
  } catch {
    return { message: text.slice(0, 500), code: 'error' };
  }
}

/** The address of the records of a storage. */
export const recordsOf = (storage: string) => `/v1/storages/${encodeURIComponent(storage)}/records`;
