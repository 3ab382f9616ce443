import { resolve } from 'node:path';
import { readAccessToken } from '../../config/access-token.js';
import { findConfig } from '../server-config.js';
import { isLoopback } from './place.js';

/**
 * The access token for a server: of the file that a flag names, else of the environment, else of the server's own config when
 * it runs on this machine. Never an argument: every user sees those in the list of processes.
 * @throws StartupError for a file that a flag names
 */
export async function findAccessToken(file: string | undefined, host: string): Promise<string | undefined> {
  const token = process.env.LOREKEEP_ACCESS_TOKEN;
  if (file !== undefined) return read(resolve(file), '--access-token-file');
  if (token) return token;
  if (!isLoopback(host)) return undefined;
  const configured = await findConfig(undefined).then(
    ({ config }) => config.access_token_file,
    () => '',
  );
  // One that this user may not read is no mistake: the server says whether it wants a token.
  return configured === '' ? undefined : read(configured, 'access_token_file').catch(() => undefined);
}

const read = async (path: string, what: string) => (await readAccessToken(path, what)).token;
