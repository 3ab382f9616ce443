import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { StartupError } from './startup-error.js';

/** Longest access token, and longest token file, in bytes. */
const longestToken = 4096;

/** Shorter tokens can be guessed. */
const shortestGood = 16;

/** White space around the line. Languages disagree about other characters, and clients would send another token. */
const aroundLine = /^[ \t\r\n]+|[ \t\r\n]+$/g;

/** Marks and spaces that editors and web pages add unasked. */
const unseen = /\p{Cf}|[^\S ]/u;

export interface AccessToken {
  /** Trimmed. */
  token: string;
  /** One sentence per probable mistake; never contains the token. */
  warnings: string[];
}

/** Opening a pipe without a writer would block a thread forever. Windows has neither the flag nor such pipes. */
const readOnly = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** Reads the secret in a file: one line of UTF-8 text. `what` starts the messages. @throws StartupError */
export async function readAccessToken(path: string, what: string): Promise<AccessToken> {
  const refuse = (problem: string): never => {
    throw new StartupError(`${what}: ${path}: ${problem}`);
  };
  const { text, warnings } = await readSecretFile(path, what, longestToken, 'the access token');
  const token = text.replace(aroundLine, '');
  if (token === '') refuse('is empty; a line with a secret is expected');
  if (/[\p{Cc}\u2028\u2029]/u.test(token))
    refuse('has more than one line, or a control character; one line is expected');
  if (unseen.test(token)) refuse('has an invisible character, such as a no-break space');
  if (token.length < shortestGood)
    warnings.push(
      `${what}: ${path}: the access token is shorter than ${shortestGood} characters; it can be guessed`,
    );
  return { token, warnings };
}

/**
 * Reads a file with secrets as UTF-8 text, and warns if other users may read or replace it. `what` starts the messages, and
 * `secret` names the content. @throws StartupError
 */
export async function readSecretFile(
  path: string,
  what: string,
  maxBytes: number,
  secret: string,
): Promise<{ text: string; warnings: string[] }> {
  const refuse = (problem: string): never => {
    throw new StartupError(`${what}: ${path}: ${problem}`);
  };
  let file: FileHandle;
  try {
    file = await open(path, readOnly);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return refuse(code === 'ENOENT' ? 'the file does not exist' : `cannot be read: ${message}`);
  }
  await using opened = file;
  const facts = await opened.stat();
  if (!facts.isFile()) refuse('is not a regular file');
  if (facts.size > maxBytes) refuse(`is longer than ${maxBytes} bytes`);
  const { buffer, bytesRead } = await opened.read(Buffer.alloc(maxBytes + 1), 0, maxBytes + 1, 0);
  if (bytesRead > maxBytes) refuse(`is longer than ${maxBytes} bytes`);
  const text = decode(buffer.subarray(0, bytesRead)) ?? refuse('is not UTF-8');
  const warnings: string[] = [];
  const others = process.platform === 'win32' ? 0 : facts.mode & 0o066;
  if (others !== 0) {
    const may = (others & 0o044) === 0 ? 'replace' : 'read';
    warnings.push(`${what}: ${path}: other users may ${may} ${secret}; chmod 600 keeps it from them`);
  }
  return { text, warnings };
}

function decode(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
