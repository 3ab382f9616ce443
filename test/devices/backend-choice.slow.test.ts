import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { platform } from '../../lib/boundary/addon-files.js';
import type { BackendChoice } from '../../lib/index.js';
import { temporaryFolder } from '../helpers/folder.js';
import { standInFolder } from '../helpers/stand-in-plugin.mjs';
import { runJson } from './run.js';

const folder = temporaryFolder();
let caches = 0;

type Choice = BackendChoice & { code?: string; message?: string };

/** Chooses a backend in a process of its own, with its own cache. */
function choose(name: string, environment: NodeJS.ProcessEnv): Promise<Choice> {
  const own = { LOREKEEP_CACHE: folder(`cache ${++caches}`), LOREKEEP_SOFTWARE_GPU: '' };
  return runJson<Choice>('choose.mjs', [name], { ...own, ...environment });
}

const states = ({ candidates }: Choice) =>
  Object.fromEntries(candidates.map(({ backend, state }) => [backend, state]));

describe('auto', () => {
  it('takes the CPU where no plugin is installed, and names the package of each', async () => {
    const found = await choose('auto', { LOREKEEP_BACKENDS: folder('nothing') });
    expect(found.backend).toBe('cpu');
    expect(states(found)).toEqual({
      cuda: 'file missing',
      vulkan: 'file missing',
      hip: 'not tried',
      cpu: 'chosen',
    });
    expect(found.candidates[0]?.reason).toContain(`@lorekeep/${platform}-cuda`);
  });

  it('takes Vulkan where CUDA is missing, and CUDA before Vulkan', async () => {
    const plugins = standInFolder(folder('both'));
    const vulkan = await choose('auto', { LOREKEEP_BACKENDS: plugins });
    expect(states(vulkan)).toEqual({
      cuda: 'file missing',
      vulkan: 'chosen',
      hip: 'not tried',
      cpu: 'not tried',
    });
    expect(vulkan.device).toMatchObject({ name: 'GPU0', description: 'Stand-in' });
    standInFolder(plugins, 'cuda');
    const cuda = await choose('auto', { LOREKEEP_BACKENDS: plugins });
    expect([cuda.backend, states(cuda)]).toEqual([
      'cuda',
      { cuda: 'chosen', vulkan: 'not tried', hip: 'not tried', cpu: 'not tried' },
    ]);
  });

  it.each([
    ['no device', { STAND_IN_DEVICES: '0' }, /loaded and found no device/],
    ['software only', { STAND_IN_DESCRIPTION: 'llvmpipe (LLVM 15.0.6, 256 bits)' }, /computes on the CPU/],
    [
      'software only',
      { STAND_IN_DESCRIPTION: 'llvmpipe (LLVM 15.0.6, 256 bits)', STAND_IN_HIDDEN: '1' },
      /^llvmpipe .* computes on the CPU; set LOREKEEP_SOFTWARE_GPU=1 to use it$/,
    ],
    ['no device', { STAND_IN_HIDDEN: '1' }, /loaded and found no device/],
    ['failed', { STAND_IN_FAILS: 'load' }, /crashed \(SIGABRT\) in a child process/],
    ['failed', { STAND_IN_FAILS: 'open' }, /GPU0 cannot be opened/],
  ])('says %s of a plugin with %o, and takes the CPU', async (state, environment, reason) => {
    const plugins = standInFolder(folder('broken'));
    const found = await choose('auto', { LOREKEEP_BACKENDS: plugins, ...environment });
    const vulkan = found.candidates.find(({ backend }) => backend === 'vulkan');
    expect([found.backend, vulkan?.state]).toEqual(['cpu', state]);
    expect(vulkan?.reason).toMatch(reason);
  });

  it('names the library that a plugin lacks', async () => {
    const plugins = folder('linked');
    mkdirSync(plugins);
    writeFileSync(join(plugins, 'libggml-vulkan.so'), 'not a library');
    const found = await choose('auto', { LOREKEEP_BACKENDS: plugins });
    const vulkan = found.candidates.find(({ backend }) => backend === 'vulkan');
    expect(vulkan).toMatchObject({ state: 'library missing', reason: expect.stringMatching(/damaged/) });
  });

  it('counts a software rasteriser if LOREKEEP_SOFTWARE_GPU asks for it', async () => {
    const plugins = standInFolder(folder('software'));
    const environment = { STAND_IN_DESCRIPTION: 'llvmpipe (LLVM 15.0.6)', LOREKEEP_SOFTWARE_GPU: '1' };
    const found = await choose('auto', { LOREKEEP_BACKENDS: plugins, ...environment });
    expect(found.backend).toBe('vulkan');
  });
});

describe('a plugin', () => {
  const describePlugin = (plugins: string, facts: object) =>
    writeFileSync(join(plugins, 'lorekeep-plugin.json'), JSON.stringify({ backend: 'vulkan', ...facts }));

  it('for another version of ggml is not loaded', async () => {
    const plugins = standInFolder(folder('old'));
    describePlugin(plugins, { ggml: '0.1.0' });
    const found = await choose('vulkan', { LOREKEEP_BACKENDS: plugins, STAND_IN_FAILS: 'load' });
    expect(found).toMatchObject({ code: 'UNSUPPORTED', candidates: [{ state: 'other version' }, {}] });
    expect(found.message).toMatch(/^backend vulkan: .* is for ggml 0\.1\.0, and this lorekeep has ggml \d/);
  });

  it('that is not the published file is not loaded', async () => {
    const plugins = standInFolder(folder('changed'));
    describePlugin(plugins, { sha256: '0'.repeat(64) });
    const found = await choose('vulkan', { LOREKEEP_BACKENDS: plugins, STAND_IN_FAILS: 'load' });
    expect(found.candidates[0]).toMatchObject({ state: 'failed', reason: expect.stringMatching(/SHA-256/) });
  });

  it('is tried once per driver and plugin', async () => {
    const plugins = standInFolder(folder('once'));
    const environment = { LOREKEEP_BACKENDS: plugins, LOREKEEP_CACHE: folder('own cache') };
    const state = async (more: NodeJS.ProcessEnv) =>
      (await choose('vulkan', { ...environment, ...more })).candidates[0]?.state;
    // What may end at any time is not kept: a device that is missing, a library that is missing, Ctrl+C during the try.
    expect(await state({ STAND_IN_FAILS: 'signal' })).toBe('failed');
    expect(await state({ STAND_IN_DEVICES: '0' })).toBe('no device');
    expect(await state({ STAND_IN_FAILS: 'load' })).toBe('failed');
    // The stand-in's own variables belong to no driver: the old answer holds.
    expect(await state({})).toBe('failed');
    expect(await state({ GGML_VK_VISIBLE_DEVICES: '0' })).toBe('chosen');
    expect(readdirSync(folder('own cache'))).toEqual(['gpu-probes.json']);
  });

  it('that lacked a library or a device is tried again', async () => {
    const plugins = folder('later');
    mkdirSync(plugins);
    const environment = { LOREKEEP_BACKENDS: plugins, LOREKEEP_CACHE: folder('later cache') };
    writeFileSync(join(plugins, 'libggml-vulkan.so'), 'not a library');
    expect(states(await choose('vulkan', environment)).vulkan).toBe('library missing');
    expect(existsSync(folder('later cache'))).toBe(false);
    standInFolder(plugins);
    expect(states(await choose('vulkan', { ...environment, STAND_IN_DEVICES: '0' })).vulkan).toBe(
      'no device',
    );
    expect(states(await choose('vulkan', environment)).vulkan).toBe('chosen');
  });

  it('is loaded from a folder whose name has spaces and other letters', async () => {
    const plugins = standInFolder(folder('Übung ünd 目录 с пробелами'));
    const found = await choose('vulkan', { LOREKEEP_BACKENDS: plugins });
    expect(found.candidates[0]).toMatchObject({ state: 'chosen', file: join(plugins, 'libggml-vulkan.so') });
  });
});

it('a backend that is named and cannot be used is refused with the reason', async () => {
  const found = await choose('hip', { LOREKEEP_BACKENDS: folder('nothing') });
  expect(found.code).toBe('UNSUPPORTED');
  expect(found.message).toMatch(
    /^backend hip: the package @lorekeep\/\S+-hip is not installed \(docs\/guides\/devices\.md\)$/,
  );
});

it('a name that is none is refused', async () => {
  const found = await choose('vulcan', {});
  expect(found).toMatchObject({ code: 'INVALID_ARGUMENT', message: expect.stringMatching(/vulkan/) });
});

it('a CPU plugin of an older ggml is refused by name', async () => {
  const file = join(standInFolder(folder('older'), 'cpu-older'), 'libggml-cpu-older.so');
  const found = await choose('cpu', { STAND_IN_CPU: '1', LOREKEEP_CPU_PLUGIN: file });
  expect(found.code).toBe('UNSUPPORTED');
  expect(found.message).toMatch(/libggml-cpu-older\.so is not of ggml \d.*install lorekeep again$/);
});
