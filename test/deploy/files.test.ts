import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/file.js';
import { temporaryFolder } from '../helpers/folder.js';

const project = join(import.meta.dirname, '../..');
const folder = join(project, 'deploy');
const inFolder = temporaryFolder();
const isInstalled = (program: string) => spawnSync(program, ['--version']).error === undefined;
const text = (name: string) => readFileSync(join(folder, name), 'utf8');

it.each(readdirSync(folder).filter((name) => name.endsWith('.json')))(
  'deploy/%s is a config without mistakes',
  (name) => {
    expect(parseConfig(name, text(name)).problems).toEqual([]);
  },
);

describe.skipIf(!isInstalled('systemd-analyze'))('the systemd unit (skipped without systemd-analyze)', () => {
  /** The unit with paths that exist on this machine. */
  const unit = () => {
    const program = join(project, 'dist/src/cli/lorekeep.cjs');
    const path = inFolder('lorekeep.service');
    const paths = /^ExecStart=\S+ \S+ serve/m;
    expect(text('lorekeep.service')).toMatch(paths);
    writeFileSync(
      path,
      text('lorekeep.service').replace(paths, `ExecStart=${process.execPath} ${program} serve`),
    );
    return path;
  };

  it('passes systemd-analyze verify', () => {
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', unit()], { encoding: 'utf8' });
    expect({ status, about: stderr.split('\n').filter((line) => line.includes('lorekeep')) }).toEqual({
      status: 0,
      about: [],
    });
  });

  it('has an exposure of at most 2 of 10 in systemd-analyze security', () => {
    const check = ['security', '--offline=true', '--threshold=20', unit()];
    const { status, stdout, stderr } = spawnSync('systemd-analyze', check, { encoding: 'utf8' });
    expect(status, stdout.split('\n').slice(-3).join('\n') + stderr).toBe(0);
  });
});

it.skipIf(!isInstalled('logrotate'))('logrotate reads its file (skipped without logrotate)', () => {
  mkdirSync(inFolder('log'), { recursive: true });
  writeFileSync(inFolder('log', 'service.log'), 'line\n');
  const rules = text('lorekeep.logrotate').replaceAll('/var/log/lorekeep', inFolder('log'));
  writeFileSync(inFolder('rules'), rules, { mode: 0o644 });
  const { stderr } = spawnSync('logrotate', ['--debug', '--state', inFolder('state'), inFolder('rules')], {
    encoding: 'utf8',
  });
  expect(stderr).toContain('considering log');
  expect(stderr).not.toMatch(/^error/m);
});

it.skipIf(!isInstalled('python3'))('the launchd file is a property list (skipped without python3)', () => {
  const read = 'import plistlib,sys,json; print(json.dumps(plistlib.load(open(sys.argv[1], "rb"))))';
  const list = execFileSync('python3', ['-c', read, join(folder, 'com.lorekeep.server.plist')], {
    encoding: 'utf8',
  });
  expect(JSON.parse(list)).toMatchObject({ Label: 'com.lorekeep.server', Umask: 0o077, ExitTimeOut: 30 });
});

it('the container file copies a config of this folder and starts the command that the package has', () => {
  const file = text('Dockerfile');
  expect(file).toContain('COPY server-config.container.json /etc/lorekeep/server-config.json');
  expect(file).toContain('ENTRYPOINT ["lorekeep", "serve", "--config", "/etc/lorekeep/server-config.json"]');
  const { bin } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));
  expect(Object.keys(bin)).toEqual(['lorekeep']);
});
