import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Path of a browser for tests, or undefined. LOREKEEP_TEST_BROWSER names another one. */
export const browserPath: string | undefined = [process.env.LOREKEEP_TEST_BROWSER ?? '', ...places].find(
  (path) => path !== '' && existsSync(path),
);

/** @param more further arguments of the browser */
export function launch(more: readonly string[] = []): Promise<Browser> {
  return chromium.launch({
    executablePath: browserPath as string,
    // Containers have no user namespaces and a small /dev/shm.
    args: ['--no-sandbox', '--disable-dev-shm-usage', ...more],
  });
}
