import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { writeChecksums } from '../tool/checksums.mjs';
import { productionFolder } from '../tool/project.mjs';
import { Stop } from '../tool/stop.mjs';
import { place } from './staging.mjs';

/**
 * Places the addons of the production edition among the staged libraries of each prebuild in `prebuilds`, and states the hashes
 * anew.
 */
export function placeProductionAddons(prebuilds, staged) {
  if (!existsSync(prebuilds)) return;
  for (const platform of readdirSync(prebuilds)) {
    const addons = join(prebuilds, platform, productionFolder);
    if (!existsSync(addons))
      throw new Stop(
        `${basename(prebuilds)}/${platform} has no addon of the production edition: run \`npm run prebuild\` again`,
      );
    for (const name of readdirSync(addons).filter((name) => name.endsWith('.node')))
      place(join(addons, name), join(staged, platform, name));
    writeChecksums(join(staged, platform));
  }
}
