import type { ClientSession } from '../../client/index.js';
import type { FolderOf } from '../../search/record-place.js';
import { UsageError } from '../failure.js';
import type { ModelFlags } from '../flags/model.js';
import type { Places } from './places.js';
import type { ServerFlags } from './reach.js';

export interface OpenFlags extends ServerFlags, ModelFlags {
  /** A language model: a name of the catalog or, in the process, also a file. */
  model?: string;
  /** The embedding model of a folder that is indexed. */
  embeddingModel?: string;
  json?: boolean;
}

/** A session with its storages: of a server, or of this process. */
export interface Opened extends AsyncDisposable {
  readonly session: ClientSession;
  /** Number of storages. The n-th has the name storageName(n). */
  readonly storages: number;
  /** Number of records of all storages. */
  readonly records: number;
  /** Catalog name of the language model of the flags, if one is named. */
  readonly model: string | undefined;
  readonly folderOf: FolderOf;
  /** Whether there is a language model. Taken for granted on a server. */
  readonly hasLanguageModel: boolean;
}

/** @throws UsageError for a flag that this way of asking does not use */
export function refuseIneffective(places: Places | undefined, flags: OpenFlags): void {
  if (places !== undefined && 'here' in places) {
    if (flags.accessTokenFile !== undefined)
      throw new UsageError('--access-token-file: it has no effect without a server');
    return;
  }
  for (const [flag, value] of Object.entries({
    '--embedding-model': flags.embeddingModel,
    '--catalog': flags.catalog,
    '--config': flags.config,
  })) {
    if (value !== undefined)
      throw new UsageError(`${flag}: it has no effect on a server; it is for folders and files here`);
  }
}
