import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { dataFolder, stateFolder } from '../../src/base/files/data-folder.js';
import { homeFolder, isSealed } from '../../src/base/files/home.js';
import { loadConfig } from '../../src/config/load.js';
import { temporaryFolder } from '../helpers/folder.js';

const inFolder = temporaryFolder();
const mine = resolve('/mine'); // with the drive, on Windows

describe('the data folder', () => {
  it('is the chosen one, else the one of the platform; a checkout keeps its files itself', () => {
    expect(dataFolder({ LOREKEEP_STATE: '/mine', XDG_DATA_HOME: '/xdg' })).toBe(mine);
    expect(stateFolder({ LOREKEEP_STATE: '/mine' })).toBe(mine);
    expect(stateFolder({ XDG_DATA_HOME: '/xdg' })).toBeUndefined();
    expect(isSealed(join(homeFolder, 'data'))).toBe(false);
  });

  it('gets what no config places, and nothing that one does', async () => {
    const environment = { LOREKEEP_STATE: '/mine' };
    const { config } = await loadConfig({ '--config': inFolder('absent.json') }, environment);
    expect(config).toMatchObject({
      logs_dir: join(mine, 'logs'),
      models_download_dir: join(mine, '.models'),
      models_catalog_path: join(homeFolder, 'data', 'models.json'),
      storage_root: '',
    });
    mkdirSync(inFolder('project'));
    writeFileSync(inFolder('project', 'c.json'), JSON.stringify({ logs_dir: 'logs' }));
    const placed = await loadConfig({ '--config': inFolder('project', 'c.json') }, environment);
    expect(placed.config).toMatchObject({
      logs_dir: inFolder('project', 'logs'),
      models_download_dir: join(mine, '.models'),
    });
    const flags = { '--config': inFolder('project', 'c.json'), '--crash-dump-dir': inFolder('dumps') };
    expect((await loadConfig(flags, environment)).config.crash_dump.dir).toBe(inFolder('dumps'));
  });
});
