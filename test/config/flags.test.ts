import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { valueAt } from '../../src/base/schema/field-issue.js';
import { configFlags } from '../../src/config/flags.js';
import { loadConfig } from '../../src/config/load.js';
import { temporaryFolder } from '../helpers/folder.js';

const inFolder = temporaryFolder();

/** Three different values for each flag: the flag's, the variable's, the file's. */
const values: Record<string, [string | true, string, unknown]> = {
  '--port': ['1', '2', 3],
  '--llm-backend': ['cuda', 'hip', 'vulkan'],
  '--network-access': ['local', 'local_network', 'local'],
  '--idle-shutdown-timeout': ['1', '2', 3],
  '--crash-dump-dir': [resolve('/a'), resolve('/b'), resolve('/c')],
  '--enable-debug-commands': [true, 'false', true],
  // Extensions.
  '--http': [true, 'false', true],
  '--http-port': ['1', '2', 3],
  '--page': [true, 'false', true],
};

describe('flags and variables', () => {
  it('are those of the contract', () => {
    expect(configFlags.map(({ name }) => name).sort()).toEqual(['--config', ...Object.keys(values)].sort());
    expect(configFlags.map(({ variable }) => variable)).toContain('LOREKEEP_IDLE_SHUTDOWN_TIMEOUT');
  });

  it.each(configFlags.filter(({ field }) => field !== undefined))(
    '$name beats $variable, which beats the file, which beats the default',
    async ({ name, variable, field }) => {
      const [flag, inVariable, inFile] = values[name] as [string | true, string, unknown];
      const keys = field?.keys ?? [];
      const path = inFolder('config.json');
      writeFileSync(
        path,
        JSON.stringify(keys.reduceRight<unknown>((value, key) => ({ [key]: value }), inFile)),
      );
      const value = async (flags: object, environment: object) => {
        const { config } = await loadConfig({ '--config': path, ...flags }, environment as NodeJS.ProcessEnv);
        return String(valueAt(config, keys));
      };
      expect(await value({ [name]: flag }, { [variable]: inVariable })).toBe(String(flag));
      expect(await value({}, { [variable]: inVariable })).toBe(inVariable);
      expect(await value({}, { [variable]: '' })).toBe(String(inFile));
      expect(await value({}, {})).toBe(String(inFile));
    },
  );

  it('name the file', async () => {
    const path = inFolder('named.json');
    writeFileSync(path, '{"port": 5}');
    expect((await loadConfig({}, { LOREKEEP_CONFIG: path })).config.port).toBe(5);
    const other = inFolder('other.json');
    writeFileSync(other, '{"port": 6}');
    expect((await loadConfig({ '--config': other }, { LOREKEEP_CONFIG: path })).config.port).toBe(6);
    await expect(loadConfig({ '--config': '' })).rejects.toThrow('--config: a path is expected');
  });

  it('have paths that start at the working directory', async () => {
    const { config } = await loadConfig({ '--crash-dump-dir': 'dumps' });
    expect(config.crash_dump.dir).toBe(resolve('dumps'));
  });

  it('are refused by name, with what is allowed', async () => {
    const integer = 'an integer from 0 to 65535 is expected, not';
    for (const text of ['', 'x', '1x', '70000', '-1', '1.5', '1e3', '0x10', 'NaN']) {
      await expect(loadConfig({ '--port': text })).rejects.toThrow(`--port: ${integer} "${text}"`);
      if (text === '') continue;
      await expect(loadConfig({}, { LOREKEEP_PORT: text })).rejects.toThrow(
        `LOREKEEP_PORT: ${integer} "${text}"`,
      );
    }
    await expect(loadConfig({}, { LOREKEEP_ENABLE_DEBUG_COMMANDS: 'maybe' })).rejects.toThrow(
      'LOREKEEP_ENABLE_DEBUG_COMMANDS: true or false is expected, not "maybe"',
    );
  });
});
