import { mkdirSync, writeFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { valueAt } from '../../src/base/schema/field-issue.js';
import { checkServerConfig } from '../../src/config/check.js';
import { configFields, setValue } from '../../src/config/fields.js';
import { loadConfig } from '../../src/config/load.js';
import { StartupError } from '../../src/config/startup-error.js';
import { temporaryFolder } from '../helpers/folder.js';

const inFolder = temporaryFolder();
let files = 0;

function write(content: string | Buffer | object): string {
  const path = inFolder(`config-${++files}.json`);
  const raw = typeof content === 'string' || Buffer.isBuffer(content);
  writeFileSync(path, raw ? content : JSON.stringify(content));
  return path;
}

const load = (content: string | Buffer | object) => loadConfig({ '--config': write(content) });

async function refusal(content: string | Buffer | object): Promise<string> {
  const path = write(content);
  const error = await loadConfig({ '--config': path }).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(StartupError);
  const { message } = error as Error;
  expect(message).not.toContain('\n');
  expect(message.startsWith(path), message).toBe(true);
  return message.slice(path.length);
}

/** Values of every JSON type. */
const everyType = [null, true, 1.5, -1e300, 'loud', [], ['a'], {}, { port: 1 }];

describe('a config file', () => {
  it('may say some fields, also within objects, and the others keep their defaults', async () => {
    const { config, file } = await load({
      port: 9200,
      monitor: { port: 1 },
      engines: { llm_engine: { inference: { scheduler: { background: { max_pause_ms: 7 } } } } },
    });
    expect(file).toBeDefined();
    expect(config).toMatchObject({ port: 9200, thread_count: 4, monitor: { port: 1, turn_ring_size: 200 } });
    const { background } = config.engines.llm_engine.inference.scheduler;
    expect(background).toEqual({ prefill_quantum_tokens: 128, contention_scaling: true, max_pause_ms: 7 });
  });

  it('has paths that start at its folder', async () => {
    const paths = configFields.filter(({ facts }) => facts.path);
    expect(paths.length).toBeGreaterThan(6);
    const written = {};
    for (const { keys, path } of paths) setValue(written, keys, `sub/${path}`);
    const { config } = await load(written);
    for (const { keys, path } of paths) expect(valueAt(config, keys)).toBe(inFolder(`sub/${path}`));
    const absolute = join(inFolder(), 'models.json');
    expect(isAbsolute(absolute)).toBe(true);
    expect((await load({ models_catalog_path: absolute })).config.models_catalog_path).toBe(absolute);
    expect((await load({ logs_dir: '', storage_root: '' })).config).toMatchObject({
      logs_dir: '',
      storage_root: '',
    });
  });

  it('may be absent: defaults, and a warning when it was named', async () => {
    const path = inFolder('absent.json');
    const { config, file, warnings } = await loadConfig({ '--config': path, '--port': '1' });
    expect(config).toMatchObject({ port: 1, thread_count: 4 });
    expect(file).toBeUndefined();
    expect(warnings).toEqual([`${path}: the config file does not exist: all fields have their defaults`]);
  });

  it('may name storages and agents by short plain names only, and says so of others', async () => {
    for (const name of ['', '..', 'my notes', 'a/b', 'x'.repeat(65)]) {
      const expected = 'a letter or digit, then at most 63 letters, digits, ".", "_" or "-" are expected';
      expect(await refusal({ http: { storages: { [name]: { config: 'kb.json' } } } })).toContain(expected);
      expect(await refusal({ http: { agents: { [name]: 'graph.json' } } })).toContain(expected);
    }
  });

  it('may have unknown keys, at any depth: a warning each, with place and nearest name', async () => {
    const { config, warnings } = await load(
      '{\n  "prot": 9200,\n  "zzz": 1,\n  "monitor": {"prt": 1},\n  "__proto__": 3, "telemetry": {"sinks": [{"knd": 1}]}\n}',
    );
    expect(config.port).toBe(9100);
    const expected = [
      ':2:11: prot: is not a known field; did you mean "port"?; it has no effect',
      ':3:10: zzz: is not a known field; it has no effect',
      ':4:22: monitor.prt: is not a known field; did you mean "port"?; it has no effect',
      ':5:51: telemetry.sinks[0].knd: is not a known field; did you mean "kind"?; it has no effect',
    ];
    for (const text of expected) expect(warnings.join('\n')).toContain(text);
  });

  it('may have the deprecated key: one warning', async () => {
    for (const value of [99, 'all', null]) {
      const { warnings } = await load({ engines: { llm_engine: { n_gpu_layers: value } } });
      expect(warnings).toHaveLength(1);
      expect(warnings[0]).toMatch(/n_gpu_layers: deprecated and ignored/);
    }
  });

  it('may begin with a byte order mark', async () => {
    expect((await load('\uFEFF{"port": 7}')).config.port).toBe(7);
  });
});

describe('a config file with a mistake', () => {
  it('is refused with line and column when it is not JSON', async () => {
    const cases: [string, string][] = [
      ['{"port": 1,}', ':1:12: not valid JSON: a comma is not allowed before a closing bracket'],
      ['{\n  "port" 1\n}', ':2:10: not valid JSON: ":" is expected'],
      ['{\n  "port": 1\n  "a": 2}', ':3:3: not valid JSON: "," is expected'],
      ['{\r\n  "port": 1 // default\r\n}', ':2:13: not valid JSON: JSON has no comments'],
      ["{'port': 1}", ':1:2: not valid JSON: '],
      ['{"logs_dir": "C:\\logs"}', ':1:14: not valid JSON: this is not a JSON escape'],
      ['{"port": 01}', ':1:'],
      ['{"a": "x', ':1:7: not valid JSON: the string has no closing quote'],
      ['{"port": 1} x', ':1:13: not valid JSON: '],
      ['', ':1:1: not valid JSON: the text is empty'],
      ['[1', ':1:3: not valid JSON: "]" is expected'],
      ['{"port": NaN}', ':1:10: not valid JSON: a value is expected'],
      ['['.repeat(200_000), ':1:1: not valid JSON'],
      [`${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`, ': nested deeper than 64 levels'],
      [
        '{"limits": {"drain_timeout_ms": 1,\n "drain_timeout_ms": 2}}',
        ':2:2: limits.drain_timeout_ms: occurs twice',
      ],
    ];
    for (const [text, message] of cases) expect(await refusal(text), text.slice(0, 40)).toContain(message);
  });

  it('is refused with the field and what is allowed when a value does not fit', async () => {
    const cases: [object, string][] = [
      [{ port: '9100' }, ':1:9: port: an integer from 0 to 65535 is expected, not "9100"'],
      [{ port: 70_000 }, 'port: an integer from 0 to 65535 is expected, not 70000'],
      [{ port: 1.5 }, 'port: an integer from 0 to 65535 is expected, not 1.5'],
      [{ log_level: 'loud' }, 'one of "trace", "debug", "info", "warn", "error" is expected, not "loud"'],
      [{ network_access: null }, 'network_access: one of "local", "local_network" is expected, not null'],
      [{ include_engine_diagnostics: 'true' }, 'true or false is expected, not "true"'],
      [{ logs_dir: 3 }, 'logs_dir: a string is expected, not 3'],
      [{ logs_dir: 'a\0b' }, 'logs_dir: a string without NUL is expected'],
      [{ models_catalog_path: '' }, 'models_catalog_path: a string that is not empty is expected'],
      [{ monitor: [] }, 'monitor: an object is expected, not an array of 0'],
      [{ telemetry: { sinks: {} } }, 'telemetry.sinks: an array is expected, not an object'],
      [{ telemetry: { sinks: [{ kind: 'x' }] } }, 'telemetry.sinks[0].kind: one of "analytics" is expected'],
      [
        { engines: { llm_engine: { backend: 'metal' } } },
        'engines.llm_engine.backend: one of "auto", "cuda"',
      ],
      [[], ':1:1: an object is expected, not an array of 0'],
    ];
    for (const [content, message] of cases) expect(await refusal(content)).toContain(message);
  });

  it('is refused in one line whatever stands in a field', async () => {
    for (const { keys, path, facts } of configFields) {
      if (path.includes('[]') || facts.deprecated) continue;
      let refused = 0;
      for (const value of everyType) {
        const content = {};
        setValue(content, keys, value);
        const problems = await checkServerConfig(write(content));
        const errors = problems.filter(({ severity }) => severity === 'error');
        if (errors.length > 0) refused++;
        for (const { message } of errors) expect(message).toContain(path);
      }
      expect(refused, path).toBeGreaterThanOrEqual(everyType.length - 2);
    }
  });

  it('is refused when it is no file, no UTF-8, or too long', async () => {
    mkdirSync(inFolder('folder'));
    await expect(loadConfig({ '--config': inFolder('folder') })).rejects.toThrow('folder: is a folder');
    expect(await refusal(Buffer.from([0x7b, 0xff, 0x7d]))).toBe(': is not UTF-8');
    expect(await refusal(`{"x": "${'y'.repeat(5_000_000)}"}`)).toContain('is longer than');
    if (process.platform !== 'win32') {
      await expect(loadConfig({ '--config': '/dev/zero' })).rejects.toThrow(
        '/dev/zero: cannot be read: not a regular file',
      );
    }
  });
});

describe('checkServerConfig', () => {
  it('finds everything at once, errors first', async () => {
    const path = write('{\n"prot": 1,\n"port": "x",\n"log_level": 3\n}');
    const problems = await checkServerConfig(path);
    expect(problems.map(({ severity, message }) => `${severity} ${message.slice(path.length)}`)).toEqual([
      'error :3:9: port: an integer from 0 to 65535 is expected, not "x"',
      expect.stringMatching(/^error :4:14: log_level: one of .* is expected, not 3$/),
      'warning :2:9: prot: is not a known field; did you mean "port"?; it has no effect',
    ]);
    await expect(loadConfig({ '--config': path })).rejects.toThrow('and 1 more: `lorekeep check`');
    const tooLarge = await refusal({ limits: { drain_timeout_ms: 1e300 } });
    expect(tooLarge).toMatch(/an integer from 0 to 3600000 is expected, not 1e\+300$/);
  });

  it('finds nothing in a right file, and takes an absent one for a mistake', async () => {
    expect(await checkServerConfig(write({ $schema: 'x', port: 1 }))).toEqual([]);
    const path = inFolder('absent.json');
    expect(await checkServerConfig(path)).toEqual([
      { severity: 'error', message: `${path}: the file does not exist` },
    ]);
  });
});
