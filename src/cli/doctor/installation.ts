import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import { cacheFolder } from '../../../lib/basics.js';
import { dataFolder, stateFolder, whyDataFolder } from '../../base/files/data-folder.js';
import { homeFolder } from '../../base/files/home.js';
import { accessNotes } from '../../config/access.js';
import type { LoadedConfig } from '../../config/load.js';
import type { ServerConfig } from '../../config/schema.js';
import { indexesFolder } from '../../knowledge/folder/place.js';
import { hostsOf, isAddressMissing } from '../../server/listener.js';
import { type Finding, failed, ok, warning } from './finding.js';

/** Milliseconds that a program on the port has to send its Hello. */
const greetingMs = 1000;

/** Checks whether a server could listen. */
export async function checkPort(
  { port, network_access }: ServerConfig,
  { tryOut }: { tryOut: boolean },
): Promise<Finding> {
  const code = await listenAsServer(hostsOf(network_access), port);
  if (code === undefined) return ok('port', port === 0 ? 'any free one' : `${port} is free`);
  if (code === 'EACCES')
    return failed(
      'port',
      `${port} needs more rights than this user has`,
      'choose one from 1024 on with --port',
    );
  if (code !== 'EADDRINUSE') return failed('port', `${port}: ${code}`, 'choose another one with --port');
  const used = `${port} is in use`;
  // The client needs the addon, for its list of node types.
  if (!tryOut) return warning('port', used, 'stop the program there, unless it is a lorekeep server');
  try {
    const { connect } = await import('../../client/index.js');
    await using client = await connect({ port, signal: AbortSignal.timeout(greetingMs) });
    return ok('port', `${port}: a lorekeep server is running, version ${client.hello.version}`);
  } catch {
    return failed(
      'port',
      `${used} by another program`,
      'stop that program, or choose another port with --port',
    );
  }
}

/** The system's error code, or undefined if listening works. */
async function listenAsServer(hosts: readonly string[], port: number): Promise<string | undefined> {
  let code: string | undefined;
  for (const host of hosts) {
    code = await listenOnce(host, port);
    if (!isAddressMissing(code)) break;
  }
  return code;
}

function listenOnce(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

/** Checks that the storage root exists, and reports the files that clients may read. */
export function checkAccess(config: ServerConfig): Finding[] {
  const root = config.storage_root || homeFolder;
  const found = accessNotes(config, root).map(({ field, message, remedy }) =>
    remedy === undefined ? ok(field, message) : warning(field, message, remedy),
  );
  return found.some(({ subject }) => subject === 'storage_root')
    ? found
    : [ok('storage_root', root), ...found];
}

/**
 * Checks that the server could write or create a folder, without creating anything. It serves without. `why`: who chose the
 * folder.
 */
export async function checkWritable(subject: string, folder: string, why: string): Promise<Finding> {
  const existing = await nearestExisting(folder);
  const found = await stat(existing);
  if (!found.isDirectory())
    return warning(subject, `${existing} is a file`, `move it away, or set ${subject} to another folder`);
  try {
    await access(existing, constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return warning(
      subject,
      `${existing} cannot be written (${code})`,
      `change its rights, or set ${subject} to another folder`,
    );
  }
  return ok(subject, `${folder} (${existing === folder ? why : `${why}; made when it is needed`})`);
}

/** Checks every folder that commands and the server write to, and says who chose it. */
export async function checkFolders({ config, sources }: LoadedConfig): Promise<Finding[]> {
  const inCheckout = stateFolder() === undefined;
  const standard = inCheckout ? 'next to the program, as this is a checkout' : 'in the data folder';
  const whyOf = (field: string) => {
    const source = sources.get(field);
    if (source === undefined) return standard;
    return source === 'file' ? 'the config' : source;
  };
  const { LOREKEEP_CACHE, LOREKEEP_STATE } = process.env;
  const whyCache = LOREKEEP_STATE ? 'in the data folder' : "the platform's cache folder";
  const folders: [subject: string, folder: string, why: string][] = [
    ['data folder', dataFolder(), whyDataFolder()],
    ['indexes', indexesFolder(), 'in the data folder'],
    ['settings', cacheFolder(), LOREKEEP_CACHE ? 'LOREKEEP_CACHE' : whyCache],
    ['logs_dir', config.logs_dir, whyOf('logs_dir')],
    ['models_download_dir', config.models_download_dir, whyOf('models_download_dir')],
    ['memories_dir', config.memories_dir, whyOf('memories_dir')],
  ];
  return Promise.all(folders.filter(([, folder]) => folder !== '').map((each) => checkWritable(...each)));
}

async function nearestExisting(path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined);
  const parent = dirname(path);
  return found !== undefined || parent === path ? path : nearestExisting(parent);
}
