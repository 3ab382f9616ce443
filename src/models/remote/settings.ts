import { isIP } from 'node:net';
import { z } from 'zod';

const path = () =>
  z
    .string()
    .min(1)
    .refine((name) => !name.includes('\0'), 'no file name has a NUL');

/** The servers whose differences from OpenAI's interface are known. */
export const remoteApis = ['openai', 'llama-server', 'vllm', 'tei'] as const;

/** A model that another server computes. */
export const remoteSchema = z.strictObject({
  url: z
    .string()
    .min(1)
    .describe('Address to which `/embeddings`, `/chat/completions` and `/rerank` are appended.'),
  api: z
    .enum(remoteApis)
    .default('openai')
    .describe('Kind of the server: decides how options and reranking requests are written.'),
  model: z.string().min(1).max(256).describe('Name of the model at that server.'),
  revision: z
    .string()
    .min(1)
    .max(128)
    .optional()
    .describe(
      'Any text. Change it when the server gets another model under the same name: indexes are built again.',
    ),
  key_env: z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'the name of an environment variable is expected')
    .optional()
    .describe('Environment variable with the secret that is sent as a bearer token.'),
  key_file: path()
    .optional()
    .describe("The same from a file with one line; a relative path starts at the catalog's folder."),
  ca_file: path()
    .optional()
    .describe('PEM file with the certificates that are trusted, instead of those of the system.'),
  insecure: z
    .boolean()
    .default(false)
    .describe('Allows http to another machine: texts and secret can be read on the way.'),
  parallel: z.int().min(1).max(256).default(4).describe('Requests at a time.'),
  batch_texts: z.int().min(1).max(2048).default(32).describe('Texts of a request, at most.'),
  batch_bytes: z
    .int()
    .min(1024)
    .max(16_777_216)
    .default(262_144)
    .describe('Bytes of the texts of a request, unless one text alone has more.'),
  timeout_ms: z
    .int()
    .min(100)
    .max(3_600_000)
    .default(60_000)
    .describe('Longest time for a whole answer; of a streamed reply, for its next part.'),
  retries: z
    .int()
    .min(0)
    .max(10)
    .default(3)
    .describe('Further attempts after a lost connection and the status 429, 500, 502, 503 or 504.'),
});

export type RemoteSettings = z.output<typeof remoteSchema>;

/** Returns the defect of settings that the schema accepts, or undefined. */
export function remoteMistake({ url, key_env, key_file, insecure }: RemoteSettings): string | undefined {
  const expected = 'remote.url: an http or https address without user, query and fragment is expected';
  if (!URL.canParse(url)) return expected;
  const { protocol, username, password, search, hash, hostname } = new URL(url);
  // The text itself, too: an empty query or fragment disappears when it is parsed.
  if (!/^https?:$/.test(protocol) || username + password + search + hash !== '' || /[?#@\s\\]/.test(url))
    return expected;
  if (protocol === 'http:' && !insecure && !isLoopback(hostname))
    return 'remote.url: https is expected for another machine; "insecure": true allows http';
  if (key_env !== undefined && key_file !== undefined)
    return 'remote: one of "key_env" and "key_file" is expected';
  return undefined;
}

function isLoopback(hostname: string): boolean {
  return (
    hostname === 'localhost' || hostname === '[::1]' || (isIP(hostname) === 4 && hostname.startsWith('127.'))
  );
}

/** Returns the host and port of an address, which errors and lists show. */
export const hostOf = ({ url }: Pick<RemoteSettings, 'url'>): string => new URL(url).host;
