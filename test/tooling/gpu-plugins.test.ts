import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../helpers/folder.js';

const root = join(import.meta.dirname, '..', '..');
const { pluginFile, requireGraphs, requireOwnGgml, stageOf } = await import(
  new URL('../../scripts/backends/plugin.mjs', import.meta.url).href
);
const folder = temporaryFolder();

it.each(['cuda', 'hip'])('a plugin of %s is built with graphs, and refused without', (backend) => {
  const settings = readFileSync(join(root, 'native', 'plugins', 'CMakeLists.txt'), 'utf8');
  expect(settings).toContain(`set(GGML_${backend.toUpperCase()}_GRAPHS ON)`);
  const plugin = folder(`${backend}.so`);
  writeFileSync(plugin, `\0${backend}Malloc\0`);
  expect(() => requireGraphs(backend, plugin)).toThrow(`does not call ${backend}GraphLaunch`);
  writeFileSync(plugin, `\0${backend}Malloc\0${backend}GraphLaunch\0`);
  requireGraphs(backend, plugin);
  // The plugin of this checkout, if it has one.
  const built = join(stageOf(backend), pluginFile(backend));
  if (existsSync(built)) requireGraphs(backend, built);
  requireGraphs('vulkan', plugin);
});

it('a plugin is built with the ggml of the addon, and refused with another one', () => {
  const settings = readFileSync(join(root, 'native', 'plugins', 'CMakeLists.txt'), 'utf8');
  expect(settings).toContain('lorekeep_name_libraries(ggml-base)');
  const plugin = folder('other.so');
  writeFileSync(plugin, '\0libggml-base.so\0');
  expect(() => requireOwnGgml(plugin)).toThrow('does not use lorekeep-');
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  writeFileSync(plugin, `\0liblorekeep-${version}-ggml-base.so\0`);
  requireOwnGgml(plugin);
});
