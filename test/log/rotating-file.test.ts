import { execFileSync, spawnSync } from 'node:child_process';
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { RotatingFile as LogFile, type Rotation } from '../../src/log/rotating-file.js';
import { temporaryFolder } from '../helpers/folder.js';

/** With plain lines in place of JSON. */
class RotatingFile extends LogFile {
  constructor(folder: string, name: string, rotation?: Rotation) {
    super(folder, name, rotation, (text) => /^(line \d{4}|x+)$/.test(text));
  }
}

const inFolder = temporaryFolder();
const folder = () => mkdtempSync(inFolder('logs-'));
const line = (index: number) => `line ${String(index).padStart(4, '0')}\n`;
const lines = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => line(from + index));
const read = (logs: string, name: string) => readFileSync(join(logs, name), 'utf8');

describe('a rotating file', () => {
  it('is at most as large as allowed, keeps so many files, and splits no line', () => {
    const logs = folder();
    const file = new RotatingFile(logs, 'service', { maxBytes: 55, files: 3 });
    for (let index = 0; index < 40; index++) file.append([line(index)]);
    file.close();
    expect(readdirSync(logs).sort()).toEqual(['service.1.log', 'service.2.log', 'service.log']);
    const kept = ['service.2.log', 'service.1.log', 'service.log'].map((name) => read(logs, name));
    for (const text of kept) expect(text.length).toBeLessThanOrEqual(55);
    expect(kept.join('')).toBe(lines(25, 40).join(''));
  });

  it('rotates within one flush of many lines', () => {
    const logs = folder();
    const file = new RotatingFile(logs, 'service', { maxBytes: 55, files: 5 });
    file.append(lines(0, 12));
    file.close();
    expect(read(logs, 'service.2.log')).toBe(lines(0, 5).join(''));
    expect(read(logs, 'service.1.log')).toBe(lines(5, 10).join(''));
    expect(read(logs, 'service.log')).toBe(lines(10, 12).join(''));
  });

  it('begins a new line behind half of one, as a killed writer leaves it', () => {
    const logs = folder();
    writeFileSync(join(logs, 'service.log'), `${line(0)}li`);
    const file = new RotatingFile(logs, 'service');
    file.append([line(1)]);
    file.append([line(2)]);
    file.close();
    expect(read(logs, 'service.log')).toBe(`${line(0)}li\n${line(1)}${line(2)}`);
  });

  it('takes a line that is larger than a file', () => {
    const logs = folder();
    const file = new RotatingFile(logs, 'service', { maxBytes: 55, files: 2 });
    const long = `${'x'.repeat(100)}\n`;
    file.append([line(0), long, line(1)]);
    expect(read(logs, 'service.1.log')).toBe(long);
    expect(read(logs, 'service.log')).toBe(line(1));
    file.close();
  });

  it('goes on where an earlier process ended', () => {
    const logs = folder();
    writeFileSync(join(logs, 'service.log'), line(0));
    const file = new RotatingFile(logs, 'service', { maxBytes: 20, files: 2 });
    file.append([line(1)]);
    file.append([line(2)]);
    file.close();
    expect(read(logs, 'service.1.log')).toBe(line(0) + line(1));
    expect(read(logs, 'service.log')).toBe(line(2));
  });

  it('is made anew when somebody removes or renames it', () => {
    const logs = folder();
    const file = new RotatingFile(logs, 'service', { maxBytes: 1000, files: 2 });
    file.append([line(0)]);
    rmSync(file.path);
    file.append([line(1)]);
    expect(read(logs, 'service.log')).toBe(line(1));
    renameSync(file.path, join(logs, 'moved.log'));
    file.append([line(2)]);
    expect(read(logs, 'service.log')).toBe(line(2));
    file.close();
  });

  it('may be shared by two processes', () => {
    const logs = folder();
    const rotation = { maxBytes: 110, files: 5 };
    const files = [new RotatingFile(logs, 'service', rotation), new RotatingFile(logs, 'service', rotation)];
    for (let index = 0; index < 40; index++) files[index % 2]?.append([line(index)]);
    for (const file of files) file.close();
    const names = ['service.3.log', 'service.2.log', 'service.1.log', 'service.log'];
    expect(names.map((name) => read(logs, name)).join('')).toBe(lines(0, 40).join(''));
  });

  it('writes to no file that is not a log, and replaces none', () => {
    const other = 'a diary\n';
    const logs = folder();
    for (const name of ['service.log', 'service.1.log']) {
      writeFileSync(join(logs, name), other);
      expect(() => new RotatingFile(logs, 'service', { maxBytes: 55, files: 2 })).toThrow(
        `${join(logs, name)} is not a log of lorekeep`,
      );
      expect(read(logs, name)).toBe(other);
      rmSync(join(logs, name));
    }
    symlinkSync('nowhere', join(logs, 'service.log'));
    expect(() => new RotatingFile(logs, 'service')).toThrow('is a symbolic link');
    expect(readdirSync(logs)).toEqual(['service.log']);
    rmSync(join(logs, 'service.log'));
    const file = new RotatingFile(logs, 'service', { maxBytes: 12, files: 2 });
    file.append([line(0)]);
    writeFileSync(join(logs, 'service.1.log'), other);
    expect(() => file.append([line(1)])).toThrow('service.1.log is not a log of lorekeep');
    expect([read(logs, 'service.log'), read(logs, 'service.1.log')]).toEqual([line(0), other]);
    file.close();
  });

  it('takes the log of another program with its name for no log of its own', () => {
    const time = '2026-01-02T03:04:05.678Z';
    const own = `{"level":"info","time":"${time}","msg":"listening"}`;
    const others = [
      `{"level":"info","msg":"listening","time":"2026-01-02T03:04:05Z"}`,
      `{"level":"info","service":"x","time":"${time}","message":"listening"}`,
      `{"level":30,"time":1767323045678,"msg":"listening"}`,
      `{"level":"information","time":"${time}","msg":"listening"}`,
    ];
    for (const first of [own, ...others]) {
      const logs = folder();
      writeFileSync(join(logs, 'service.log'), `${first}\n`);
      const open = () => new LogFile(logs, 'service', { maxBytes: 12, files: 2 });
      if (first === own) open().close();
      else expect(open, first).toThrow('is not a log of lorekeep');
      expect(read(logs, 'service.log')).toBe(`${first}\n`);
    }
  });

  it('appends to what a crash has left', () => {
    for (const left of ['{"level":"in', '', `${line(0)}li`]) {
      const logs = folder();
      writeFileSync(join(logs, 'service.log'), left);
      const file = new RotatingFile(logs, 'service');
      file.append([line(1)]);
      file.close();
      expect(read(logs, 'service.log')).toBe(left === '' ? line(1) : `${left}\n${line(1)}`);
    }
  });

  it.skipIf(process.platform !== 'linux')('waits for no pipe', () => {
    const logs = folder();
    execFileSync('mkfifo', [join(logs, 'service.log')]);
    expect(() => new RotatingFile(logs, 'service')).toThrow('service.log');
  });

  it.skipIf(process.platform !== 'linux')(
    'writes no half line to a full disk, and goes on when it is not full any more',
    () => {
      const script = fileURLToPath(new URL('children/full-log.mjs', import.meta.url));
      const mount = 'mount -t tmpfs -o size=64k tmpfs "$0" && exec "$@"';
      const logs = folder();
      const tried = spawnSync('unshare', ['-m', 'sh', '-c', mount, logs, 'true'], { encoding: 'utf8' });
      if (tried.status !== 0)
        return console.log(`skipped: no file system may be mounted here: ${tried.stderr}`);
      const child = ['-m', 'sh', '-c', mount, logs, process.execPath, script, logs];
      const output = execFileSync('unshare', child, { encoding: 'utf8' });
      const { code, lines: found, half, after } = JSON.parse(output);
      expect({ code, half, after }).toEqual({ code: 'ENOSPC', half: '', after: true });
      expect(found).toBeGreaterThan(100);
    },
  );
});
