import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { writeBertModel } from '../helpers/models.js';

const root = join(import.meta.dirname, '..', '..');
const prebuild = join(root, 'prebuilds', `${process.platform}-${process.arch}`);
const texts = [
  'The cat sat on the mat.',
  'A dog runs fast under the blue sky; one tree stands by the red house.',
  'Kings and queens keep gold, salt and old songs in towers. '.repeat(6),
  'moon',
];
const weightTypes = ['F32', 'F16', 'Q8_0'] as const;
const dimension = 128;

/** Features that /proc/cpuinfo must list for a plugin to run on this machine. */
const needs: Record<string, string[]> = {
  x64: [],
  sse42: ['sse4_2'],
  sandybridge: ['avx'],
  ivybridge: ['avx', 'f16c'],
  piledriver: ['avx', 'f16c', 'fma'],
  haswell: ['avx2', 'bmi2', 'f16c', 'fma'],
  alderlake: ['avx2', 'bmi2', 'f16c', 'fma', 'avx_vnni'],
  skylakex: ['avx512bw', 'avx512cd', 'avx512dq', 'avx512vl'],
  cascadelake: ['avx512bw', 'avx512_vnni'],
  icelake: ['avx512bw', 'avx512vbmi', 'avx512_vnni'],
  cooperlake: ['avx512bw', 'avx512_vnni', 'avx512_bf16'],
  zen4: ['avx512bw', 'avx512vbmi', 'avx512_vnni', 'avx512_bf16'],
  sapphirerapids: ['avx512bw', 'avx512vbmi', 'avx512_vnni', 'avx512_bf16', 'amx_tile', 'amx_int8'],
};

interface Answer {
  unsupported?: string;
  plugins: string[];
  vectors: Float32Array[];
}

let models: string[];
let plain: Answer;

/** In a process of its own: a plugin with an instruction that this CPU lacks must not take the tests with it. */
async function embedWith(variant: string): Promise<Answer> {
  const child = join(import.meta.dirname, 'children', 'embed.mjs');
  const env = { ...process.env, PREBUILDS_ONLY: '1', LOREKEEP_CPU_PLUGIN: `libggml-cpu-${variant}.so` };
  const args = [child, JSON.stringify(texts), ...models];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env, maxBuffer: 1 << 26 });
  const { unsupported, plugins = [], vectors = [] } = JSON.parse(stdout);
  const decode = (text: string) => {
    const bytes = Uint8Array.from(Buffer.from(text, 'base64'));
    return new Float32Array(bytes.buffer);
  };
  return { unsupported, plugins, vectors: vectors.map(decode) };
}

function cosines(a: Float32Array, b: Float32Array): number[] {
  return texts.map((_, row) => {
    let dot = 0;
    for (let i = row * dimension; i < (row + 1) * dimension; i++) dot += (a[i] ?? 0) * (b[i] ?? 0);
    return dot;
  });
}

const isLinuxX64 = process.platform === 'linux' && process.arch === 'x64';

describe.runIf(isLinuxX64)('the CPU plugins of the prebuild', () => {
  const cpuinfo = existsSync('/proc/cpuinfo') ? readFileSync('/proc/cpuinfo', 'utf8') : '';
  const flags = new Set(/^flags\s*:(.*)$/m.exec(cpuinfo)?.[1]?.trim().split(' '));
  const runnable = Object.keys(needs).filter((name) => needs[name]?.every((flag) => flags.has(flag)));

  beforeAll(async () => {
    if (!existsSync(prebuild)) throw new Error(`${prebuild} is missing: run \`npm run prebuild\``);
    const options = { dimension, heads: 4, layers: 2, feedForward: 256, seed: 7 };
    models = await Promise.all(
      weightTypes.map((weightType) =>
        writeBertModel(`variant-${weightType}.gguf`, { ...options, weightType }),
      ),
    );
    plain = await embedWith('x64');
  });

  test('are one per CPU generation', () => {
    const shipped = readdirSync(prebuild).flatMap((name) => /^libggml-cpu-(.*)\.so$/.exec(name)?.[1] ?? []);
    expect(shipped.sort()).toEqual(Object.keys(needs).sort());
  });

  test('include one for any x64 machine, and its embeddings tell texts apart', () => {
    expect(plain.plugins).toEqual(['libggml-cpu-x64.so']);
    expect(plain.vectors).toHaveLength(weightTypes.length);
    const [first] = plain.vectors;
    const others = texts.slice(1).map((_, i) => {
      let dot = 0;
      for (let d = 0; d < dimension; d++) dot += (first?.[d] ?? 0) * (first?.[(i + 1) * dimension + d] ?? 0);
      return dot;
    });
    expect(Math.max(...others)).toBeLessThan(0.99);
  });

  test.each(Object.keys(needs).filter((name) => name !== 'x64'))(
    '%s agrees with x64, or is refused where it cannot run',
    async (variant) => {
      const answer = await embedWith(variant);
      if (!runnable.includes(variant)) {
        expect(answer.unsupported).toContain(`libggml-cpu-${variant}.so`);
        return;
      }
      expect(answer.unsupported).toBeUndefined();
      expect(answer.plugins).toEqual([`libggml-cpu-${variant}.so`]);
      weightTypes.forEach((weightType, i) => {
        const found = cosines(answer.vectors[i] as Float32Array, plain.vectors[i] as Float32Array);
        expect(Math.min(...found), weightType).toBeGreaterThan(0.999);
      });
    },
  );
});
