import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { homeFolder } from '../../src/config/home.js';
import { loadConfig } from '../../src/config/load.js';
import { temporaryFolder } from '../helpers/folder.js';

const inFolder = temporaryFolder();

function write(content: string | object): string {
  const path = inFolder(`config-${Math.random()}.json`);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

describe('the config', () => {
  it('is all defaults when there is no file, with paths beside the program', async () => {
    const { config, file, warnings } = await loadConfig(undefined);
    expect(file).toBeUndefined();
    expect(warnings).toEqual([]);
    expect(config).toEqual({
      port: 9100,
      models_catalog_path: join(homeFolder, 'data/models.json'),
      storage_root: '',
      log_level: 'info',
      include_interaction_in_diagnostics: false,
      max_frame_mb: 64,
    });
  });

  it("takes a file's values and resolves its paths against its folder; flags beat it", async () => {
    const path = write({ port: 9200, models_catalog_path: 'sub/models.json' });
    const loaded = await loadConfig(path, { port: 9300 });
    expect(loaded.file).toBe(path);
    expect(loaded.config).toMatchObject({ port: 9300, models_catalog_path: inFolder('sub/models.json') });
    const absolute = await loadConfig(write({ models_catalog_path: '/etc/models.json' }));
    expect(absolute.config.models_catalog_path).toBe('/etc/models.json');
    const silent = await loadConfig(write({}), { port: undefined });
    expect(silent.config).toMatchObject({
      port: 9100,
      models_catalog_path: join(homeFolder, 'data/models.json'),
    });
  });

  it('warns of an unknown key, naming the nearest', async () => {
    const { config, warnings } = await loadConfig(write({ prot: 9200, zzz: 1, max_frame_mb: 8 }));
    expect(config).toMatchObject({ port: 9100, max_frame_mb: 8 });
    expect(warnings).toHaveLength(2);
    expect(warnings[0]).toContain('prot: is not a known field; did you mean "port"?');
    expect(warnings[1]).toMatch(/zzz: is not a known field; it has no effect$/);
  });

  it('refuses a wrong value, naming file, key and what is allowed', async () => {
    const path = write({ log_level: 'loud' });
    await expect(loadConfig(path)).rejects.toThrow(path);
    await expect(loadConfig(path)).rejects.toThrow(/log_level: .*"trace"\|"debug"\|"info"\|"warn"\|"error"/);
    await expect(loadConfig(write({ port: 70_000 }))).rejects.toThrow(/port: .*65535/);
    await expect(loadConfig(write([]))).rejects.toThrow('expected object');
  });

  it('refuses what is not JSON, and a named file that is absent', async () => {
    await expect(loadConfig(write('{"port": 1,}'))).rejects.toThrow('not valid JSON');
    await expect(loadConfig(inFolder('absent.json'))).rejects.toThrow('the config file does not exist');
  });
});
