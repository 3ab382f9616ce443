import type { ServerConfig } from './schema.js';
import { rootFolderProblem } from './storage-root-problem.js';

/** The config fields about access. */
export type AccessConfig = Pick<
  ServerConfig,
  'network_access' | 'session_folders' | 'access_token_file' | 'storage_root'
>;

/** Returns the folders that sessions may name: `session_folders`, or its default. */
export function sessionFolders({ session_folders, network_access }: AccessConfig) {
  return session_folders ?? (network_access === 'local' ? 'any' : 'storage_root');
}

/** A sentence for the operator about a field; with `remedy` if the value is probably a mistake. */
export interface AccessNote {
  field: 'session_folders' | 'access_token_file';
  message: string;
  remedy?: string;
}

/**
 * Returns notes on the folders and clients that the config admits. `root`: the storage root. `secret`: whether clients
 * need an access token.
 */
export function accessNotes(
  config: AccessConfig,
  root: string,
  secret = config.access_token_file !== '',
): AccessNote[] {
  const network = config.network_access === 'local_network';
  const folders = sessionFolders(config);
  const clients = `${network ? 'clients on the local network' : 'clients on this machine'}${secret ? ' with the access token' : ''}`;
  const message = `${clients} may read storages and text files in ${openPlaces(folders, root)}`;
  const notes: AccessNote[] = [{ field: 'session_folders', message }];
  if (network && folders === 'any')
    notes[0] = {
      field: 'session_folders',
      message,
      remedy: 'set session_folders to "storage_root" or to a list',
    };
  for (const folder of typeof folders === 'string' ? [] : folders) {
    const problem = rootFolderProblem(folder);
    if (problem === undefined) continue;
    const remedy = 'correct the path, or make the folder';
    notes.push({ field: 'session_folders', message: `${folder} ${problem}`, remedy });
  }
  if (network && !secret)
    notes.push({
      field: 'access_token_file',
      message:
        'the server listens on the network and asks for no access token: whoever reaches it may use it',
      remedy: 'name a file with a secret',
    });
  return notes;
}

function openPlaces(folders: ReturnType<typeof sessionFolders>, root: string): string {
  if (folders === 'any') return 'any folder that the server may read';
  return [root, ...(folders === 'storage_root' ? [] : folders)].join(', ');
}
