// The half of `npm run test:gpu` that runs where lorekeep was built: all that scripts/gpu/run.sh needs beside the tracked files, as one
// archive in parts. The size of a transfer may be limited, and the tracked files travel with each.
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { pluginFile, stageOf, vendorSources } from '../backends/plugin.mjs';
import { run } from '../tool/command.mjs';
import { phase } from '../tool/phase.mjs';
import { platformTag, root, vendorFolder } from '../tool/project.mjs';
import { Stop } from '../tool/stop.mjs';
import { strip } from '../tool/strip.mjs';
import { vendor } from '../vendor/vendor.mjs';

const mebibyte = 1024 * 1024;
/** Bytes that travel at a time: a part, and the files of the checkout that git does not ignore. */
export const callBytes = 64 * mebibyte;
/** Bytes of a part, and how many parts there may be. Each part is a transfer of its own. */
export const partBytes = 20 * mebibyte;
const mostParts = 3;

export const gpuFolder = join(root, '.gpu');

/** Files of the checkout that travel, tracked or not ignored. */
export function filesOfCheckout() {
  const list = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], {
    cwd: root,
    maxBuffer: 64 << 20,
  });
  return list
    .toString()
    .split('\0')
    .filter((file) => file && existsSync(join(root, file)));
}

/**
 * Makes .gpu/part-1 and so on: with the prebuild, for any processor, if there is one; a rehearsal, with this machine's build.
 * Returns their paths. @throws Stop if they do not fit
 */
export async function pack({ rehearsal = false } = {}) {
  await phase('vendor', () => vendor({ only: vendorSources }));
  const folder = mkdtempSync(join(tmpdir(), 'lorekeep-pack-'));
  try {
    await phase('collect', () => collect(folder, rehearsal));
    mkdirSync(gpuFolder, { recursive: true });
    for (const name of readdirSync(gpuFolder)) if (name.startsWith('part-')) rmSync(join(gpuFolder, name));
    const archive = join(folder, '..', `${basename(folder)}.tar.xz`);
    await phase('compress', () =>
      run('tar', ['-C', folder, '-cJf', archive, '.'], { quiet: true, env: { XZ_OPT: '-7 -T0' } }).then(
        () => '',
      ),
    );
    const parts = split(archive, gpuFolder, partBytes);
    rmSync(archive);
    requireRoom(
      parts,
      filesOfCheckout().reduce((sum, file) => sum + lstatSync(join(root, file)).size, 0),
    );
    return parts;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Writes the bytes of a file as part-1 and so on, each of at most `bytes`. Returns their paths. */
export function split(file, folder, bytes) {
  const source = openSync(file, 'r');
  const parts = [];
  try {
    const buffer = Buffer.alloc(bytes);
    for (let read = readSync(source, buffer); read > 0; read = readSync(source, buffer)) {
      parts.push(join(folder, `part-${parts.length + 1}`));
      writeFileSync(parts.at(-1), buffer.subarray(0, read));
    }
  } finally {
    closeSync(source);
  }
  return parts;
}

/** @throws Stop if there are too many parts, or one does not fit beside the files of the checkout */
export function requireRoom(parts, checkoutBytes) {
  const inMebibytes = (bytes) => `${(bytes / mebibyte).toFixed(1)} MiB`;
  if (parts.length > mostParts)
    throw new Stop(
      `the archive has ${parts.length} parts of ${inMebibytes(partBytes)}; ${mostParts} are the most`,
    );
  const room = callBytes - checkoutBytes;
  const largest = Math.max(...parts.map((part) => statSync(part).size));
  if (largest > room)
    throw new Stop(
      `a part has ${inMebibytes(largest)}, and ${inMebibytes(room)} of ${inMebibytes(callBytes)} are left beside the files of the checkout`,
    );
}

/** Copies all of it into `folder`, at its place in the checkout. */
async function collect(folder, rehearsal) {
  const put = (from, to, options) => {
    const place = join(folder, to);
    mkdirSync(join(place, '..'), { recursive: true });
    cpSync(from, place, { recursive: true, dereference: true, ...options });
  };
  const own = (path, options) => put(join(root, path), path, options);
  if (!existsSync(join(root, 'dist', 'lib', 'index.js')))
    throw new Stop('dist/ is missing: run `npm run build` first');
  own('dist', { filter: (path) => !/\.map$|\.d\.(ts|cts|mts)$/.test(path) });
  for (const path of runTimePackages()) own(path);
  const prebuild = join('prebuilds', platformTag);
  const portable = !rehearsal && existsSync(join(root, prebuild));
  if (portable) own(prebuild, { filter: (path) => !/production$/.test(path) });
  else own(join('build', 'Release'));
  for (const source of vendorSources)
    put(join(vendorFolder, source), join('native', 'vendor', source), { filter: forCuda });
  const node = join(folder, '.gpu', 'bin', 'node');
  put(realpathSync(process.execPath), join('.gpu', 'bin', 'node'));
  await strip(node);
  const stories = join(
    resolve(process.env.LOREKEEP_MODELS ?? join(root, '..', 'shared', 'models')),
    'stories260K.gguf',
  );
  if (!existsSync(stories)) throw new Stop(`${stories} is missing: LOREKEEP_MODELS names its folder`);
  put(stories, join('.gpu', 'models', 'stories260K.gguf'));
  const notes = [portable ? 'prebuild' : "build/Release, for this processor's kind alone"];
  if (existsSync(join(stageOf('vulkan'), pluginFile('vulkan')))) {
    own(join('backends', 'vulkan'));
    const loader = [
      '/usr/lib/x86_64-linux-gnu/libvulkan.so.1',
      '/usr/lib/aarch64-linux-gnu/libvulkan.so.1',
    ].find(existsSync);
    if (loader) put(realpathSync(loader), join('.gpu', 'lib', 'libvulkan.so.1'));
  } else notes.push('without Vulkan (npm run build:vulkan)');
  const server = join(root, '.cache', 'bench', 'llama-server', 'plugins');
  if (existsSync(server))
    put(server, join('.gpu', 'llama-server'), { dereference: false, verbatimSymlinks: true });
  else notes.push('without llama-server (npm run setup:llama-server -- --plugins, in bench/)');
  return notes.join('; ');
}

/** Of the vendored sources: what ggml and its CUDA plugin are compiled from. */
function forCuda(path) {
  const [source, ...inside] = path.slice(vendorFolder.length + 1).split('/');
  if (source === undefined || inside.length === 0) return true;
  const name = inside.join('/');
  if (source === 'llama.cpp') return /^(ggml\b|LICENSE|vendored\.json|cmake)/.test(name);
  return !/ggml-(metal|vulkan)/.test(name);
}

/** Folders of node_modules that a production installation has. */
function runTimePackages() {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  return Object.entries(packages)
    .filter(
      ([path, { dev, devOptional, peer, link }]) =>
        path.startsWith('node_modules/') && !dev && !devOptional && !peer && !link,
    )
    .map(([path]) => path)
    .filter((path) => existsSync(join(root, path)) && path.lastIndexOf('node_modules/') === 0);
}
