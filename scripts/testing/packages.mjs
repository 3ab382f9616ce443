import { join } from 'node:path';
import { run } from '../tool/command.mjs';
import { root } from '../tool/project.mjs';
import { vitest } from './vitest.mjs';

const smokeFile = 'test/package/smoke.test.ts';

const prebuild = (variants) =>
  run(process.execPath, [join(root, 'scripts', 'prebuild.mjs'), '--variants', variants], { cwd: root });

/** Packs the addon with the plugin of this machine alone, installs the package, and uses it. */
export const smokeTest = {
  name: 'package smoke test',
  run: async () => {
    await prebuild('native');
    return vitest('smoke', [smokeFile]);
  },
};

/** Makes the prebuild that is shipped, with a plugin for each CPU generation. */
export const wholePrebuild = {
  name: 'prebuild',
  run: async () => {
    await prebuild('all');
    return { passed: 1 };
  },
};

/** Tests what is shipped. */
export const packageTests = {
  name: 'package tests',
  run: ({ filters }) => {
    if (filters.length > 0)
      return vitest(
        'package',
        filters.map((name) => `test/package/${name}`),
      );
    return vitest('package', ['test/package/', '--exclude', smokeFile]);
  },
};
