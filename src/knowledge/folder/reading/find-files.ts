import { join } from 'node:path';
import { fileIdAt } from '../../../../lib/basics.js';
import { openReason } from '../../../documents/files/read-file.js';
import { walk } from '../../../documents/files/walk.js';
import { stampOf } from '../manifest.js';
import { indexFileNames, readFacts } from '../place.js';
import type { FindOptions, FoundFile } from './messages.js';

/** Finds the files of a folder and their stamps. The files of an index of a folder are left out. @throws system errors for the folder itself */
export async function* findFiles(folder: string, options: FindOptions): AsyncGenerator<FoundFile> {
  const isIndex = async (path: string) => (await readFacts(path)) !== undefined;
  for await (const found of walk(folder, {
    ...options,
    own: { names: indexFileNames, isOwn: isIndex },
    folders: true,
  })) {
    const { path } = found;
    if ('isFolder' in found) {
      const id = await fileIdAt(join(folder, path));
      yield { path, isFolder: true, id: id ?? '' };
      continue;
    }
    if ('problem' in found || 'leftOut' in found) {
      yield found;
      continue;
    }
    const state = await stampOf(join(folder, path)).catch((error: NodeJS.ErrnoException) => error);
    if (state instanceof Error) yield { path, problem: openReason(state) };
    else {
      // A file that was changed just now is read again next time.
      const stamp = state.isFresh ? `${state.stamp}:fresh` : state.stamp;
      yield { path, stamp, mtime: state.mtime, bytes: state.bytes };
    }
  }
}
