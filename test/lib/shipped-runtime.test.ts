import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { LanguageModel } from '../../lib/index.js';
import { temporaryFolder } from '../helpers/folder.js';
import { gemma, haveModels, haveWeights, realModel, smolLm } from '../helpers/real-models.js';

const cache = temporaryFolder();
const hasAvx2 = process.arch === 'x64' && /\bavx2\b/.test(readIfThere('/proc/cpuinfo'));
if (!hasAvx2) console.log('left out: shipped runtimes are of processors with AVX2');

function readIfThere(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

describe.skipIf(!hasAvx2)('the first load of a model of known shape measures nothing', () => {
  const models = [
    ['SmolLM2-135M', realModel(smolLm), haveModels(smolLm)],
    ['Gemma 3 270M', gemma, haveWeights(gemma)],
  ] as const;
  test.skipIf(models.every(([, , isThere]) => !isThere)).each(models.filter(([, , isThere]) => isThere))(
    '%s',
    async (_name, path) => {
      const before = { ...process.env };
      process.env.LOREKEEP_CACHE = cache();
      delete process.env.LOREKEEP_RUNTIME;
      delete process.env.LOREKEEP_KERNELS;
      try {
        await using model = await LanguageModel.load(path, { threads: 1, contextSize: 256 });
        expect(model.facts).toMatchObject({ runtime: 'decoder', measured: false });
        const reply = await model.generate({ prompt: 'The lighthouse stands on', maxTokens: 4 }).result;
        expect(reply.text.length).toBeGreaterThan(0);
      } finally {
        for (const name of ['LOREKEEP_CACHE', 'LOREKEEP_RUNTIME', 'LOREKEEP_KERNELS']) {
          if (before[name] === undefined) delete process.env[name];
          else process.env[name] = before[name];
        }
      }
    },
  );
});
