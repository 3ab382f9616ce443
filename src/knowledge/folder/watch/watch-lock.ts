import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { lockFile } from '../../../../lib/internal.js';
import { holderOf } from '../../changes/base-log.js';

/** The lock that a process holds while it watches the folder of an index. */
export const watchLockOf = (place: string): string => join(place, '.watch.lock');

/** Returns the number of the process that watches the folder of an index; undefined if none does. @throws IO */
export async function watcherOf(place: string): Promise<number | undefined> {
  if (!existsSync(watchLockOf(place))) return undefined;
  try {
    await lockFile(watchLockOf(place)).release();
    return undefined;
  } catch (error) {
    const holder = holderOf(error);
    if (holder === undefined) throw error;
    return holder;
  }
}
