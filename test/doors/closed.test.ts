import { createRequire } from 'node:module';
import { expect, it } from 'vitest';
import { TestServer } from '../server/test-server.js';
import { door } from './door-setting.js';

/** Whether the process has loaded the package that only the doors use. */
const hasLoadedDoors = () =>
  Object.keys(createRequire(import.meta.url).cache).some((path) =>
    /[\\/]node_modules[\\/]ws[\\/]/.test(path),
  );

it('a server whose doors are off does not load their code', async () => {
  await TestServer.start();
  expect(hasLoadedDoors()).toBe(false);
  await door();
  expect(hasLoadedDoors()).toBe(true);
});
