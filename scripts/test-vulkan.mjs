// `npm run test:vulkan`: runs test/devices/vulkan on the Vulkan plugin of `npm run build:vulkan`, on Mesa's llvmpipe if the
// machine has no GPU. Not a part of `npm test`, except for its quick part: llvmpipe is slow.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pluginFile, stageOf } from './backends/plugin.mjs';
import { vitestProgram } from './testing/vitest.mjs';
import { run } from './tool/command.mjs';
import { root } from './tool/project.mjs';
import { runScript, Stop } from './tool/stop.mjs';

await runScript('test-vulkan', async (filters) => {
  if (!existsSync(join(stageOf('vulkan'), pluginFile('vulkan'))))
    throw new Stop('no plugin: run `npm run build:vulkan` first');
  const env = { LOREKEEP_TEST_VULKAN: 'all' };
  const files = filters.length > 0 ? filters : ['test/devices/vulkan'];
  await run(process.execPath, [vitestProgram(), 'run', ...files], { cwd: root, env });
});
