import { dirname } from 'node:path';
import { fileIdAt } from '../../../lib/basics.js';
import type { LogSource } from './base-log.js';

/** The files of a source by their paths. */
export function namedFiles({ pathOf, files }: Pick<LogSource, 'pathOf' | 'files'>): LogSource['files'] {
  const named = Object.entries(files).map(([name, file]) => [name, file && pathOf(file)]);
  return Object.fromEntries(named);
}

/** Where the files of a base are written. The records file is in the folder of its change log. */
const placesOf = ({ changes, indexPlace, textIndex, embeddings }: LogSource['files']): string[] =>
  [changes, indexPlace, textIndex, embeddings].filter((file) => file !== undefined);

/** The folders that the files of a base are written to, as they were when it was opened: a link may lead elsewhere since. */
export class HeldFolders {
  readonly #ids: ReadonlyMap<string, string | undefined>;

  private constructor(ids: ReadonlyMap<string, string | undefined>) {
    this.#ids = ids;
  }

  /** `files`: by the names that they are opened by, `named`: by their paths. */
  static async of(files: LogSource['files'], named: LogSource['files']): Promise<HeldFolders> {
    const folders = placesOf(named).map(dirname);
    const ids = await Promise.all(placesOf(files).map((place) => fileIdAt(dirname(place))));
    return new HeldFolders(new Map(folders.map((folder, index) => [folder, ids[index]])));
  }

  /** "other": another folder is in the place of one of them; "absent": none is. */
  async state(): Promise<'same' | 'other' | 'absent'> {
    for (const [folder, id] of this.#ids) {
      const now = await fileIdAt(folder);
      if (now !== id) return now === undefined ? 'absent' : 'other';
    }
    return 'same';
  }
}
