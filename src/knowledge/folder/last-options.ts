import type { RepeatedOptions } from './options.js';
import { existingFolder, placeOf, readFacts } from './place.js';

/** Returns the options of the last run that indexed a folder at its default place; none if it was never indexed there. */
export async function lastOptions(folder: string): Promise<RepeatedOptions> {
  return (await readFacts(placeOf(await existingFolder(folder))))?.options ?? {};
}
