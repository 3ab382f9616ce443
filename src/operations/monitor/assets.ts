import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { homeFolder } from '../../base/files/home.js';
import { StartupError } from '../../config/startup-error.js';

export interface Asset {
  readonly type: string;
  readonly content: Buffer;
}

/** By path in the address, the file that the build makes from web/monitor. */
const files = {
  '/': ['index.html', 'text/html; charset=utf-8'],
  '/app.js': ['app.js', 'text/javascript; charset=utf-8'],
  '/app.css': ['app.css', 'text/css; charset=utf-8'],
} as const;

/** Reads the page. @throws StartupError if the package is without it */
export async function readAssets(): Promise<ReadonlyMap<string, Asset>> {
  const assets = new Map<string, Asset>();
  for (const [path, [name, type]] of Object.entries(files)) {
    const file = join(homeFolder, 'dist', 'src', 'operations', 'monitor', 'page', name);
    try {
      assets.set(path, { type, content: await readFile(file) });
    } catch {
      throw new StartupError(
        'monitor.enabled: this package has no monitor; use the development edition, or switch it off',
      );
    }
  }
  return assets;
}
