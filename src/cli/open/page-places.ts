import { join, resolve } from 'node:path';
import type { ServerConfig } from '../../config/schema.js';
import type { PagePlace, PageSource } from '../../doors/host.js';
import { existingFolder, fileNames, placeOf, readFacts } from '../../knowledge/folder/place.js';
import type { LorekeepServer } from '../../server/server.js';
import { indexHere } from '../ask/here.js';
import type { OpenFlags } from '../ask/opened.js';
import type { PlaceHere } from '../ask/places.js';
import { failureMessage } from '../failure.js';
import { storageNames } from '../mcp/storage-names.js';
import { printFailure } from '../output.js';

type Changing = { -readonly [Key in keyof PagePlace]: PagePlace[Key] };

/** The places of the page, whose folders are indexed while it is open. */
export class PagePlaces implements PageSource {
  readonly places: readonly PagePlace[];
  readonly model: string | undefined;
  /** Paths of the configs, by name of the place. */
  readonly configs: ServerConfig['http']['storages'];
  readonly #places: readonly Changing[];

  private constructor(places: readonly Changing[], configs: readonly string[], model: string | undefined) {
    this.#places = places;
    this.places = places;
    this.model = model;
    this.configs = Object.fromEntries(
      places.map(({ name }, index) => [
        name,
        { config: configs[index] as string, writable: false, watch: false },
      ]),
    );
  }

  /** Folders that were indexed before can be searched at once. @throws LorekeepError for a folder that is gone */
  static async find(given: readonly PlaceHere[], model: string | undefined): Promise<PagePlaces> {
    const names = storageNames(given);
    const places: Changing[] = [];
    const configs: string[] = [];
    for (const [index, { path, kind }] of given.entries()) {
      const name = names[index] as string;
      if (kind === 'config') {
        configs.push(resolve(path));
        places.push({ name, kind, path, state: 'ready' });
        continue;
      }
      const place = placeOf(await existingFolder(path));
      const built = (await readFacts(place))?.built ?? null;
      configs.push(join(place, fileNames.config));
      places.push({ name, kind, path, state: built === null ? 'waiting' : 'ready' });
    }
    return new PagePlaces(places, configs, model);
  }

  /** Indexes the folders one after another, as far as they have changed. One that fails does not stop the others. */
  async index(server: LorekeepServer, flags: OpenFlags, signal: AbortSignal): Promise<void> {
    for (const place of this.#places) {
      if (place.kind !== 'folder') continue;
      const wasReady = place.state === 'ready';
      if (!wasReady) place.state = 'indexing';
      try {
        const { leftOut, problems } = await indexHere(place.path, server, flags, signal, (progress) => {
          place.progress = progress;
        });
        place.state = 'ready';
        place.leftOut = leftOut.reduce((sum, { files }) => sum + files, 0) + problems.length;
      } catch (error) {
        if (signal.aborted) return;
        printFailure(error);
        // The index of the last run can still be searched.
        if (!wasReady) place.state = 'failed';
        place.reason = failureMessage(error);
      }
      delete place.progress;
    }
  }
}
