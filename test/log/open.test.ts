import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { ConsoleSink } from '../../src/log/console-sink.js';
import { type LogConfig, openLog, rotation } from '../../src/log/open.js';
import { temporaryFolder } from '../helpers/folder.js';
import { Program } from '../server/program.js';

const inFolder = temporaryFolder();

function open(config: Partial<LogConfig> = {}) {
  const logs = join(mkdtempSync(inFolder('logs-')), 'made', 'below');
  const shown: string[] = [];
  const write = vi.spyOn(ConsoleSink.prototype, 'write').mockImplementation((line) => void shown.push(line));
  const opened = openLog({
    logs_dir: logs,
    log_mode: 'production',
    log_level: 'info',
    log_flush_on: 'warn',
    log_flush_every_ms: 0,
    ...config,
  });
  onTestFinished(() => {
    opened.close();
    write.mockRestore();
  });
  return { ...opened, logs, shown };
}

const parsed = (path: string) =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((text) => JSON.parse(text));

describe("the server's log", () => {
  it('keeps 5 files of 10 MiB', () => {
    expect(rotation).toEqual({ maxBytes: 10 * 1024 * 1024, files: 5 });
  });

  it('goes to the console and, in production, to service.log, whose folder it makes', () => {
    const { log, file, logs, shown } = open();
    log.debug('hidden');
    log.info({ port: 1 }, 'listening');
    log.warn('flushed');
    expect(file).toBe(join(logs, 'service.log'));
    expect(parsed(file as string)).toMatchObject([
      { level: 'info', port: 1, msg: 'listening' },
      { level: 'warn', msg: 'flushed' },
    ]);
    expect(shown).toHaveLength(2);
  });

  it('has a file per start in dev mode', async () => {
    const first = open({ log_mode: 'dev' });
    expect(readdirSync(first.logs)).toEqual([
      expect.stringMatching(/^service_\d{4}-\d\d-\d\dT[\d-]+Z\.log$/),
    ]);
    await new Promise((resolve) => setTimeout(resolve, 2));
    open({ log_mode: 'dev', logs_dir: first.logs });
    expect(readdirSync(first.logs)).toHaveLength(2);
  });

  it('is the console alone when there is no folder, or none that can be written', () => {
    const none = open({ logs_dir: '' });
    none.log.error('shown');
    expect(none.file).toBeUndefined();
    expect(none.shown).toHaveLength(1);
    const path = inFolder('a-file');
    writeFileSync(path, '');
    const wrong = open({ logs_dir: path });
    expect(wrong.shown[0]).toContain('logs_dir: no log file can be written');
    wrong.log.info('goes on');
    expect(wrong.shown).toHaveLength(2);
  });

  it('flushes at the level that the config says', () => {
    const flushed = (flushOn: LogConfig['log_flush_on']) => {
      const { log, file } = open({ log_flush_on: flushOn, log_level: 'trace' });
      for (const level of ['error', 'warn', 'info', 'debug', 'trace'] as const) log[level](level);
      return parsed(file as string).length;
    };
    expect(flushed('trace')).toBe(5);
    expect(flushed('info')).toBe(3);
    expect(flushed('error')).toBe(1);
    expect(flushed('off')).toBe(0);
  });
});

describe('after kill -9', () => {
  const written = async (flushOn: string, level: string) => {
    const logs = mkdtempSync(inFolder('killed-'));
    const writer = Program.run('test/log/children/writer.mjs', logs, flushOn, '1000', level, '500');
    await writer.printed(/^written$/m);
    writer.child.kill('SIGKILL');
    await writer.ended;
    return parsed(join(logs, 'service.log'));
  };

  it('the log has everything up to the last line that was to be flushed', async () => {
    const lines = await written('warn', 'warn');
    expect(lines).toHaveLength(1001);
    expect(lines.at(-1)).toMatchObject({ level: 'warn', msg: 'mark' });
  });

  it('the log has every line when each is flushed', async () => {
    expect(await written('trace', 'debug')).toHaveLength(1501);
  });
});
