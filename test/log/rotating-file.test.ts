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
import { describe, expect, it } from 'vitest';
import { RotatingFile } from '../../src/log/rotating-file.js';
import { temporaryFolder } from '../helpers/folder.js';

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

  it.skipIf(process.platform !== 'linux')(
    'throws on a full disk, and goes on when it is not full any more',
    () => {
      const logs = folder();
      const path = join(logs, 'service.log');
      symlinkSync('/dev/full', path);
      const file = new RotatingFile(logs, 'service', { maxBytes: 1000, files: 2 });
      expect(() => file.append([line(0)])).toThrow('ENOSPC');
      rmSync(path);
      file.append([line(1)]);
      expect(read(logs, 'service.log')).toBe(line(1));
      file.close();
    },
  );
});
