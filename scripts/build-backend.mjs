// `npm run build:vulkan`, `build:cuda`, `build:hip`: compiles one GPU plugin and puts it into backends/<backend>, where
// this checkout finds it. node scripts/build-backend.mjs vulkan|cuda|hip|metal [FILE]: with a source file such as norm.cu, that file alone
// is compiled, with ninja, to try the compiler.
import { basename, join } from 'node:path';
import {
  pluginFile,
  requireBackend,
  requireGraphs,
  requireOwnGgml,
  stageOf,
  stagePlugin,
  vendorSources,
} from './backends/plugin.mjs';
import { definitionsOf, treeOf } from './backends/toolchains.mjs';
import { findProgram } from './tool/command.mjs';
import { build, configure, pluginConfigure } from './tool/native-tree.mjs';
import { phase } from './tool/phase.mjs';
import { runScript } from './tool/stop.mjs';
import { strip } from './tool/strip.mjs';
import { withTreeLock } from './tool/tree-lock.mjs';
import { vendor } from './vendor/vendor.mjs';

await runScript('build-backend', async ([name, file]) => {
  const backend = requireBackend(name);
  const tree = treeOf(backend);
  await withTreeLock(tree, async () => {
    await phase('vendor', () => vendor({ only: vendorSources }));
    await phase('configure', async () => {
      const changed = await configure(tree, pluginConfigure(tree, await definitionsOf(backend)));
      return changed ? '' : 'unchanged';
    });
    if (file !== undefined) {
      const object = `ggml-${backend}/CMakeFiles/ggml-${backend}.dir/${file}.o`;
      await phase('compile', async () => {
        await build(tree, [object]);
        return file;
      });
      return;
    }
    await phase('compile', async (report) => `${await build(tree, [`ggml-${backend}`], report)} files`);
    await phase('stage', async () => {
      const plugin = join(tree, 'bin', pluginFile(backend));
      requireGraphs(backend, plugin);
      requireOwnGgml(plugin);
      await strip(plugin);
      const { ggml, sha256 } = stagePlugin(backend, plugin, stageOf(backend));
      return `${basename(plugin)}, ggml ${ggml}, SHA-256 ${sha256}`;
    });
  });
  if (!findProgram('ccache')) process.stdout.write('ccache would make the next build quick\n');
});
