import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import { Catalog } from '../../catalog/catalog.js';
import { connect } from '../../client/index.js';
import type { ServerConfig } from '../../config/schema.js';
import { modelFiles } from '../model-files.js';
import { size } from '../terminal/amounts.js';
import { type Finding, failed, ok, warning } from './finding.js';

/** The catalog, and the file of each of its models. */
export async function checkModels(
  { models_catalog_path }: ServerConfig,
  signal: AbortSignal,
): Promise<Finding[]> {
  let catalog: Catalog;
  try {
    catalog = await Catalog.load(models_catalog_path);
  } catch (error) {
    const { message } = error as Error;
    return [failed('catalog', message, 'correct the file, or name another one with models_catalog_path')];
  }
  const files = await modelFiles(catalog, signal);
  const findings = files.map(({ model, type, path, state, reason, bytes = 0, verified }): Finding => {
    const subject = `model ${model}`;
    if (state === 'remote') return warning(subject, 'has a URL only', 'download it and name it with "file"');
    if (state === 'absent')
      return warning(subject, `${path} is absent`, `put the ${type} model there to use it`);
    if (state === 'damaged')
      return failed(subject, `${path}: ${reason}`, 'download it again, or correct the catalog');
    const checked = verified ? 'as the catalog states' : 'the catalog states no checksum';
    return ok(subject, `${path}, ${size(bytes)}, ${checked}`);
  });
  const usable = files.some(({ type, state }) => type === 'embedding' && state === 'present');
  return [
    ok('catalog', models_catalog_path),
    ...catalog.warnings.map((text) => warning('catalog', text, 'remove the key')),
    ...findings,
    ...(usable
      ? []
      : [failed('models', 'there is no embedding model to work with', 'put one where the catalog says')]),
  ];
}

/** How long a program on the port may take to say who it is. */
const greetingMs = 1000;

/** Whether a server could listen. */
export async function checkPort({ port }: ServerConfig): Promise<Finding> {
  const host = '127.0.0.1';
  const code = await listenOnce(host, port);
  if (code === undefined) return ok('port', port === 0 ? 'any free one' : `${port} is free`);
  if (code !== 'EADDRINUSE') return failed('port', `${port}: ${code}`, 'choose another one with --port');
  try {
    await using client = await connect({ host, port, signal: AbortSignal.timeout(greetingMs) });
    return ok('port', `${port}: a lorekeep server is running, version ${client.hello.version}`);
  } catch {
    return failed(
      'port',
      `${port} is in use by another program`,
      'stop that program, or choose another port with --port',
    );
  }
}

function listenOnce(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

/** Whether a folder that the server writes to can be written or made; nothing is. */
export async function checkWritable(subject: string, folder: string): Promise<Finding> {
  const existing = await nearestExisting(folder);
  const found = await stat(existing);
  if (!found.isDirectory())
    return failed(subject, `${existing} is a file`, `move it away, or set ${subject} to another folder`);
  try {
    await access(existing, constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return failed(
      subject,
      `${existing} cannot be written (${code})`,
      `change its rights, or set ${subject} to another folder`,
    );
  }
  return ok(subject, existing === folder ? folder : `${folder} (made when it is needed)`);
}

async function nearestExisting(path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined);
  const parent = dirname(path);
  return found !== undefined || parent === path ? path : nearestExisting(parent);
}
