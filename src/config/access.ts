import { rootFolderProblem } from './root-folder-problem.js';
import type { ServerConfig } from './schema.js';
import { StartupError } from './startup-error.js';

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
  field: 'storage_root' | 'session_folders' | 'access_token_file';
  message: string;
  remedy?: string;
}

/**
 * Returns notes on the folders and clients that the config admits, and on a storage root that is unusable. `root`: the
 * storage root. `secret`: whether clients need an access token.
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
  const notes: AccessNote[] = [];
  const ofRoot = rootFolderProblem(root);
  if (ofRoot !== undefined)
    notes.push({
      field: 'storage_root',
      message: `${root} ${ofRoot}: no knowledge base is found`,
      remedy: 'make the folder, or name another one with storage_root',
    });
  const isOpen = network && folders === 'any';
  const remedy = 'set session_folders to "storage_root" or to a list';
  notes.push({ field: 'session_folders', message, ...(isOpen && { remedy }) });
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

/** Checks that other machines cannot use the doors without a secret. `needed`: whether the doors ask for one. @throws StartupError */
export function requireSecret({ allow_remote }: ServerConfig['http'], needed: boolean): void {
  if (!allow_remote || needed) return;
  throw new StartupError(
    'http.allow_remote: other machines could use this server without a key; set http.keys_file or access_token_file',
  );
}

function openPlaces(folders: ReturnType<typeof sessionFolders>, root: string): string {
  if (folders === 'any') return 'any folder that the server may read';
  return [root, ...(folders === 'storage_root' ? [] : folders)].join(', ');
}
