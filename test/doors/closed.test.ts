import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
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

it('nothing that runs imports the SDK of MCP: it is bundled, and needs zod alone', () => {
  const dist = join(import.meta.dirname, '../../dist');
  const files = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.js'),
  );
  const imported = files.flatMap((name) => {
    const text = readFileSync(join(dist, name), 'utf8');
    return [...text.matchAll(/(?:from|import\()\s*["'](@modelcontextprotocol[^"']*)["']/g)].map(() => name);
  });
  expect(imported).toEqual([]);
  const sdk = readFileSync(join(dist, 'src/doors/mcp/sdk.js'), 'utf8');
  const packages = [...sdk.matchAll(/(?:from|import\()\s*["']([^."'][^"']*)["']/g)].map(([, name]) => name);
  expect(new Set(packages)).toEqual(new Set(['node:process', 'zod/v4']));
});
