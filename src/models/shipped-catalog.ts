import { join } from 'node:path';
import { stateFolder } from '../base/files/data-folder.js';
import { homeFolder } from '../base/files/home.js';

/** The package's catalog: the two models that are included, and models whose files users add. */
export const shippedCatalog = join(homeFolder, 'data', 'models.json');

/** Where the commands put its downloads unless a config says otherwise. */
export const shippedDownloads = (): string => join(stateFolder() ?? join(homeFolder, 'data'), '.models');

/** Models with their addresses, which `lorekeep init` puts into a new catalog. */
export const knownModels = join(homeFolder, 'data', 'known-models.json');
