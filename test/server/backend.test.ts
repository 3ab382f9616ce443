import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { LanguageModel, useBackend } from '../../lib/index.js';
import { configSchema } from '../../src/config/schema.js';
import { FlagError } from '../../src/config/startup-error.js';
import { silentLog } from '../../src/log/log.js';
import { chooseBackend } from '../../src/server/backend.js';
import { VideoMemory } from '../../src/server/video-memory.js';
import { refusal } from '../helpers/errors.js';
import { FakeTextModel } from '../helpers/fake-text-model.js';
import { temporaryFolder } from '../helpers/folder.js';
import { haveModels, realModel, stories } from '../helpers/real-models.js';
import { standInFolder } from '../helpers/stand-in-plugin.mjs';
import { TestServer } from './test-server.js';

const folder = temporaryFolder();
const field = 'engines.llm_engine.backend';

/** Chooses as a server with this backend, set by `source`; with the stand-in as Vulkan. */
async function choose(backend: string, source: string, more: object = {}) {
  process.env.LOREKEEP_BACKENDS = standInFolder(folder('plugins'));
  onTestFinished(async () => {
    delete process.env.LOREKEEP_BACKENDS;
    await useBackend('cpu');
  });
  const config = configSchema.parse({ engines: { llm_engine: { backend, ...more } } });
  const log = silentLog();
  const info = vi.spyOn(log, 'info');
  const warn = vi.spyOn(log, 'warn');
  const choice = await chooseBackend(config, new Map([[field, source]]), log);
  return { choice, told: info.mock.calls.map(([, message]) => message), warn };
}

describe('the backend of a server', () => {
  it('is the first that works, and the log explains every candidate', async () => {
    const { choice, told, warn } = await choose('auto', 'default');
    expect([choice.backend, choice.device?.name]).toEqual(['vulkan', 'GPU0']);
    expect(told).toEqual([
      expect.stringMatching(/^backend cuda: file missing: the package @lorekeep\/\S+-cuda is not installed/),
      'backend vulkan: chosen: GPU0: Stand-in',
      'backend hip: not tried: auto never chooses it; name it to use it',
      'backend cpu: not tried: vulkan was chosen',
    ]);
    expect(warn).not.toHaveBeenCalled();
  });

  it.skipIf(!haveModels(stories))('keeps vram_reserve_mb of video memory (8 GiB) free', async () => {
    const path = realModel(stories);
    const load = async () => {
      await using model = await LanguageModel.load(path, { contextSize: 64, threads: 1, batchThreads: 1 });
      return model.facts.device;
    };
    await choose('vulkan', 'file', { vram_reserve_mb: 4096 });
    expect(await load()).toBe('GPU0');
    await choose('vulkan', 'file', { vram_reserve_mb: 8192 });
    expect(await load()).toBe('CPU');
  });

  it.each(['file', 'LOREKEEP_LLM_BACKEND'])(
    'is the CPU, with a warning, if the backend that %s names cannot be used',
    async (source) => {
      const { choice, warn } = await choose('hip', source);
      expect([choice.backend, choice.candidates[0]?.state]).toEqual(['cpu', 'file missing']);
      expect(warn).toHaveBeenCalledExactlyOnceWith(
        expect.stringMatching(
          /^engines\.llm_engine\.backend: hip: the package @lorekeep\/\S+-hip is not installed \(docs\/guides\/devices\.md\); models run on the CPU$/,
        ),
      );
    },
  );

  it('is an error that says what is missing, if the flag names an unusable one', async () => {
    const error = await choose('hip', '--llm-backend').catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(FlagError);
    expect((error as Error).message).toMatch(
      /^--llm-backend hip: the package @lorekeep\/\S+-hip is not installed \(docs\/guides\/devices\.md\)$/,
    );
  });
});

describe('video memory', () => {
  it('is released as long as a client needs it', async () => {
    const applied: boolean[] = [];
    const memory = new VideoMemory(async (allowed) => void applied.push(allowed));
    const [first, second] = [memory.join(), memory.join()];
    await first.allow(true);
    await first.allow(false);
    await second.allow(false);
    await first.allow(true);
    expect([applied, memory.allowed]).toEqual([[false], false]);
    second.end();
    await first.allow(true);
    expect(applied).toEqual([false, true]);
  });

  it('is free when VideoMemoryRequest is answered; the model replies on the CPU until it is allowed again', async () => {
    const places: string[] = [];
    const made: FakeTextModel[] = [];
    const server = await TestServer.start({
      loadLanguageModel: async (_, { placement }) => {
        const device = placement === 'ram' ? 'CPU' : 'GPU0';
        places.push(device);
        made.push(new FakeTextModel({ facts: { device } }));
        return made.at(-1) as FakeTextModel;
      },
    });
    const client = await server.connect();
    const session = await client.createSession();
    const agent = await session.createAgent({
      graph: {
        nodes: [{ id: 'talk', type: 'generate', params: { model: 'talker', on_no_knowledge: 'answer' } }],
      },
    });
    expect((await agent.turn('hello')).status).toBe('completed');
    await client.allowVideoMemory(false);
    expect([places, made[0]?.closed]).toEqual([['GPU0'], 1]);
    const listed = async () => (await session.listModels()).models.find(({ name }) => name === 'talker');
    const left = await listed();
    expect([left?.loaded, left?.device]).toEqual([false, undefined]);
    expect((await agent.turn('hello')).status).toBe('completed');
    expect(places).toEqual(['GPU0', 'CPU']);
    expect((await listed())?.device).toBe('CPU');
    await client.allowVideoMemory(true);
    expect((await agent.turn('hello')).status).toBe('completed');
    expect(places).toEqual(['GPU0', 'CPU', 'GPU0']);
    await client.close();
    await server.server.close();
    expect(made.map(({ closed }) => closed)).toEqual([1, 1, 1]);
  });

  it('cannot be asked for with anything but true and false', async () => {
    const client = await (await TestServer.start()).connect();
    const wrong = client.allowVideoMemory('no' as unknown as boolean);
    expect((await refusal(wrong)).details).toMatchObject({ path: 'allowed' });
  });
});
