import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

export const root: string = join(import.meta.dirname, '..', '..');

/** npm's own program: these tests run npm with a PATH on which there is nothing else. */
function npmProgram(): string {
  const started = process.env.npm_execpath;
  if (started?.endsWith('npm-cli.js')) return started;
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    try {
      return realpathSync(join(folder, 'npm'));
    } catch {}
  }
  throw new Error('npm is not on PATH');
}

export function npm(args: string[], cwd: string, env: NodeJS.ProcessEnv = process.env): string {
  return execFileSync(process.execPath, [npmProgram(), ...args], {
    cwd,
    env,
    encoding: 'utf8',
    maxBuffer: 64 << 20,
  });
}

/** Runs an npm command that must fail; returns all that it printed. */
export function npmFails(args: string[], cwd: string, env: NodeJS.ProcessEnv): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [npmProgram(), ...args], {
    cwd,
    env,
    encoding: 'utf8',
  });
  if (status === 0) throw new Error(`npm ${args.join(' ')} did not fail`);
  return stdout + stderr;
}

export interface Tarball {
  path: string;
  version: string;
  /** Bytes of the archive, and of its files. */
  size: number;
  unpackedSize: number;
  files: { path: string; size: number }[];
}

/** `npm pack` of the checkout, or of another folder, into `destination`. */
export function pack(destination: string, folder: string = root): Tarball {
  const [packed] = JSON.parse(npm(['pack', '--json', '--pack-destination', destination], folder));
  return { ...packed, path: join(destination, packed.filename) };
}

/** An environment in which only Node and the shell can be found: no compiler, no CMake, no make. */
export function bareEnvironment(): NodeJS.ProcessEnv {
  const folder = mkdtempSync(join(tmpdir(), 'lorekeep-bin-'));
  symlinkSync(process.execPath, join(folder, 'node'));
  if (process.platform !== 'win32') symlinkSync('/bin/sh', join(folder, 'sh'));
  const env: NodeJS.ProcessEnv = { ...process.env, PATH: folder };
  for (const name of ['CC', 'CXX', 'LOREKEEP_PREBUILD', 'PREBUILDS_ONLY', 'NODE_PATH']) delete env[name];
  return env;
}

/** Installs the archive into `folder` as a user's project would have it. */
export function install(archive: string, folder: string, env: NodeJS.ProcessEnv, ...options: string[]): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ name: 'consumer', private: true, type: 'module' }),
  );
  npm(['install', '--no-audit', '--no-fund', '--prefer-offline', ...options, archive], folder, env);
}

/** Uses the installed package through its public exports; prints what it found as one line of JSON. */
const consumer = `
import { EmbeddingModel, TextIndex, VectorIndex, backends } from 'lorekeep';
const texts = ['The lighthouse keeper lit the lamp.', 'Bread rises in a warm oven.', 'Ships follow the light at night.'];
const model = await EmbeddingModel.load('node_modules/lorekeep/data/models/all-MiniLM-L6-v2.gguf');
const vectors = await VectorIndex.build(await model.embed(texts), model.dimension);
const words = await TextIndex.build(texts);
const dense = await vectors.search(await model.embed('a warm oven for bread'), { k: 1 });
const lexical = await words.search('ships at night', { k: 1 });
console.log(JSON.stringify({ dense: dense.ordinals[0], lexical: lexical.ordinals[0], backends: backends().length }));
for (const handle of [words, vectors, model]) await handle.close();
`;

export function runConsumer(folder: string, env: NodeJS.ProcessEnv): unknown {
  writeFileSync(join(folder, 'consumer.js'), consumer);
  const output = execFileSync(process.execPath, ['consumer.js'], { cwd: folder, env, encoding: 'utf8' });
  return JSON.parse(output.trim().split('\n').at(-1) ?? '');
}
