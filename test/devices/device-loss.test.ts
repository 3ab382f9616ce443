import { expect, it } from 'vitest';
import { temporaryFolder } from '../helpers/folder.js';
import { haveModels, realModel, stories } from '../helpers/real-models.js';
import { standInFolder } from '../helpers/stand-in-plugin.mjs';
import { runJson } from './run.js';

const folder = temporaryFolder();

it.skipIf(!haveModels(stories)).each(['throw', 'status'])(
  'a lost device (%s) fails the requests of its models only, which work again after loading',
  async (how) => {
    const environment = {
      LOREKEEP_BACKENDS: standInFolder(folder('plugins')),
      LOREKEEP_CACHE: folder('cache'),
      STAND_IN_LOST: folder(`lost-${how}`),
    };
    const args = [realModel(stories), 'data/models/lorekeep-mini.gguf', 'vulkan', how];
    expect(await runJson('lose.mjs', args, environment)).toEqual({
      second: 'DEVICE_LOST',
      after: 'DEVICE_LOST',
      embedding: ['DEVICE_LOST', 'DEVICE_LOST'],
      bystander: 'done',
      reloaded: ['done', 'done'],
    });
  },
);

it.skipIf(!haveModels(stories))(
  'close() frees the memory of the GPU before it resolves, and leaves the memory of a lost device alone',
  async () => {
    const environment = {
      LOREKEEP_BACKENDS: standInFolder(folder('plugins')),
      LOREKEEP_CACHE: folder('cache'),
      STAND_IN_LOST: folder('lost-at-close'),
      STAND_IN_TELLS: folder('taken'),
    };
    const args = [realModel(stories), 'data/models/lorekeep-mini.gguf', 'vulkan'];
    expect(await runJson('free.mjs', args, environment)).toEqual({
      used: [true, true, true],
      left: [0, 0, 0, 0],
    });
  },
);
