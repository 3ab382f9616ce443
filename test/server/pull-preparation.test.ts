import { createRequire } from 'node:module';
import { expect, it } from 'vitest';
import { TestServer } from './test-server.js';

const modules = createRequire(import.meta.url);
const hasHttpClient = () => Object.keys(modules.cache).some((path) => /[/\\]undici[/\\]/.test(path));

it('loads the HTTP client of downloads before clients connect, not in the first download', async () => {
  await TestServer.start();
  expect(hasHttpClient()).toBe(false);
  await TestServer.start({ config: { allow_model_pulls: true } });
  expect(hasHttpClient()).toBe(true);
});
