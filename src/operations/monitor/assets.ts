import { StartupError } from '../../config/startup-error.js';
import { type Asset, htmlType, readAssets, scriptType, styleType } from '../http/assets.js';

const files = {
  '/': ['index.html', htmlType],
  '/app.js': ['app.js', scriptType],
  '/app.css': ['app.css', styleType],
} as const;

/** Reads the page that the build makes from web/monitor. @throws StartupError if the package is without it */
export async function readMonitorPage(): Promise<ReadonlyMap<string, Asset>> {
  try {
    return await readAssets(['operations', 'monitor', 'page'], files);
  } catch {
    throw new StartupError(
      'monitor.enabled: this package has no monitor; use the development edition, or switch it off',
    );
  }
}
