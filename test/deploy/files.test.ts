import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { parseConfig } from '../../src/config/file.js';
import { Catalog } from '../../src/models/catalog.js';
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

// biome-ignore lint/suspicious/noExplicitAny: files of any shape, which a test looks at.
type Yaml = any;

describe('three servers in containers', () => {
  const compose: Yaml = parse(text('compose.yaml'), { merge: true });
  const { services } = compose;
  const config = JSON.parse(text('server-config.many.json'));

  it('mount files of the folder, with secrets and networks that are declared', () => {
    let mounted = 0;
    for (const service of Object.values<Yaml>(services)) {
      for (const volume of service.volumes ?? []) {
        const [from] = volume.split(':');
        if (!from.startsWith('./') || from === './data') continue;
        mounted++;
        expect(readdirSync(folder)).toContain(from.slice(2));
      }
      for (const secret of service.secrets ?? []) expect(compose.secrets).toHaveProperty(secret);
      for (const network of [service.networks].flat()) {
        const names = typeof network === 'string' ? [network] : Object.keys(network);
        for (const name of names) expect(compose.networks).toHaveProperty(name);
      }
    }
    expect(mounted).toBe(4);
  });

  it('list the balancer alone, which checks where they answer, and find their database', () => {
    expect(config.proxy_protocol).toEqual([services.balancer.networks.inside.ipv4_address]);
    const haproxy = text('haproxy.cfg');
    const named = [...haproxy.matchAll(/^ {4}server \S+ (\S+):9100$/gm)].map(([, name]) => name);
    expect(named).toEqual(Object.keys(services).filter((name) => name.startsWith('lorekeep-')));
    expect(haproxy).toContain(`check port ${config.metrics.port} `);
    expect(services).toHaveProperty(config.connections.main.hosts[0]);
    const [schema] = config.session_store.table.split('.');
    expect(compose.configs.schemas.content).toContain(`CREATE SCHEMA ${schema};`);
  });
});

it.skipIf(spawnSync('haproxy', ['-v']).error !== undefined)(
  'HAProxy takes its file (skipped without haproxy)',
  () => {
    const { status, stderr } = spawnSync('haproxy', ['-c', '-f', join(folder, 'haproxy.cfg')], {
      encoding: 'utf8',
    });
    expect(status, stderr).toBe(0);
  },
);

describe('the manifests of Kubernetes', () => {
  const documents: Yaml[] = parseAllDocuments(text('kubernetes.yaml')).map((one) => one.toJS());
  const of = (kind: string) => documents.find((one) => one.kind === kind);

  it('have a config and a catalog without mistakes', async () => {
    const { data } = of('ConfigMap');
    expect(parseConfig('server-config.json', data['server-config.json']).problems).toEqual([]);
    const path = inFolder('models.json');
    writeFileSync(path, data['models.json']);
    expect((await Catalog.load(path, inFolder('models'))).warnings).toEqual([]);
  });

  it('name what they declare, and ask the ports that the config opens', () => {
    expect(documents.map(({ kind }) => kind)).toEqual([
      'ConfigMap',
      'Deployment',
      'Service',
      'PodDisruptionBudget',
    ]);
    const config = JSON.parse(of('ConfigMap').data['server-config.json']);
    const { template, selector } = of('Deployment').spec;
    const [container] = template.spec.containers;
    const ports = Object.fromEntries(container.ports.map((port: Yaml) => [port.name, port.containerPort]));
    expect(ports).toEqual({ frames: 9100, metrics: config.metrics.port });
    for (const probe of ['startupProbe', 'readinessProbe', 'livenessProbe'])
      expect(ports).toHaveProperty(container[probe].httpGet.port);
    const volumes = template.spec.volumes.map(({ name }: Yaml) => name);
    for (const { name } of container.volumeMounts) expect(volumes).toContain(name);
    expect(template.metadata.labels).toEqual(selector.matchLabels);
    expect(of('Service').spec.selector).toEqual(selector.matchLabels);
    const mounts = container.volumeMounts.map(({ mountPath }: Yaml) => `${mountPath}/`);
    for (const path of [config.access_token_file, config.models_catalog_path, config.memories_dir])
      expect(
        mounts.some((mount: string) => path.startsWith(mount)),
        path,
      ).toBe(true);
    const grace = 1000 * template.spec.terminationGracePeriodSeconds;
    expect(grace).toBeGreaterThan(5000 + 10_000);
  });
});
