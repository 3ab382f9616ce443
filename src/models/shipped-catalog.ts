import { join } from 'node:path';
import { homeFolder } from '../base/files/home.js';

/** The package's catalog: the two models that are included, and models whose files users add. */
export const shippedCatalog = join(homeFolder, 'data', 'models.json');

/** Models with their addresses, which `lorekeep init` puts into a new catalog. */
export const knownModels = join(homeFolder, 'data', 'known-models.json');
