// GPU plugins: how each is built, and the package that each travels in.
import { copyFileSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { sha256Of } from '../tool/checksums.mjs';
import { npmCommand, run } from '../tool/command.mjs';
import {
  backendsFolder,
  isMusl,
  manifestFile,
  packageJson,
  platformTag,
  vendorFolder,
} from '../tool/project.mjs';
import { Stop } from '../tool/stop.mjs';

export const backends = ['vulkan', 'cuda', 'hip', 'metal'];
/** All that a plugin is compiled from. */
export const vendorSources = ['llama.cpp', 'llama.cpp-backends'];

export function requireBackend(name) {
  if (backends.includes(name)) return name;
  throw new Stop(`${name ?? 'no backend'}: one of ${backends.join(', ')} is expected`);
}

export const pluginFile = (backend) =>
  process.platform === 'win32' ? `ggml-${backend}.dll` : `libggml-${backend}.so`;

/** Where lib/devices/gpu-plugin.ts finds what this checkout has built. */
export const stageOf = (backend) => join(backendsFolder, backend);

/** Refuses a plugin of CUDA or HIP that was compiled without graphs: decoding would take far longer. */
export function requireGraphs(backend, file) {
  const launch = { cuda: 'cudaGraphLaunch', hip: 'hipGraphLaunch' }[backend];
  if (launch === undefined || readFileSync(file).includes(launch)) return;
  throw new Stop(`${file} does not call ${launch}: it was compiled without graphs`);
}

/** Refuses a plugin that lorekeep would refuse: it must use the addon's ggml-base, by its name. */
export function requireOwnGgml(file) {
  const library = `lorekeep-${packageJson().version}-ggml-base`;
  if (!readFileSync(file).includes(library)) throw new Stop(`${file} does not use ${library}`);
}

/** Version and commit of the vendored ggml. */
function ggmlFacts() {
  const text = readFileSync(join(vendorFolder, 'llama.cpp', 'ggml', 'CMakeLists.txt'), 'utf8');
  const part = (name) => {
    const found = new RegExp(`set\\(GGML_VERSION_${name} (\\d+)\\)`).exec(text);
    if (!found) throw new Stop('the vendored ggml states no version');
    return found[1];
  };
  const { sources } = JSON.parse(readFileSync(manifestFile, 'utf8'));
  const { commit, version } = sources.find(({ name }) => name === 'llama.cpp');
  return { ggml: ['MAJOR', 'MINOR', 'PATCH'].map(part).join('.'), llamaCpp: version, commit };
}

/** The content of lorekeep-plugin.json, by which lorekeep accepts a plugin. */
function describe(backend, file) {
  const { version } = packageJson();
  return {
    backend,
    platform: platformTag,
    file: basename(file),
    sha256: sha256Of(file),
    ...ggmlFacts(),
    lorekeep: version,
  };
}

/** Makes `folder` hold the plugin and its description. Replaced as a whole. */
export function stagePlugin(backend, from, folder) {
  const beside = `${folder}.${process.pid}`;
  rmSync(beside, { recursive: true, force: true });
  mkdirSync(beside, { recursive: true });
  const file = join(beside, pluginFile(backend));
  copyFileSync(from, file);
  const facts = describe(backend, file);
  writeFileSync(join(beside, 'lorekeep-plugin.json'), `${JSON.stringify(facts, null, 2)}\n`);
  rmSync(folder, { recursive: true, force: true });
  renameSync(beside, folder);
  return facts;
}

/** Makes the npm package of a staged plugin in `folder` and packs it into `to`. Returns the archive's path. */
export async function packPlugin(backend, folder, to) {
  const facts = JSON.parse(readFileSync(join(folder, 'lorekeep-plugin.json'), 'utf8'));
  const { version, homepage, repository } = packageJson();
  const manifest = {
    name: `@lorekeep/${platformTag}-${backend}`,
    version,
    description: `The ${titles[backend]} plugin of lorekeep for ${platformTag}: ggml ${facts.ggml}.`,
    license: 'MIT',
    ...(homepage && { homepage }),
    ...(repository && { repository }),
    os: [process.platform],
    cpu: [process.arch],
    ...(process.platform === 'linux' && { libc: [isMusl ? 'musl' : 'glibc'] }),
    files: [facts.file, 'lorekeep-plugin.json', 'LICENSE', 'README.md'],
    peerDependencies: { lorekeep: version },
    peerDependenciesMeta: { lorekeep: { optional: true } },
  };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  copyFileSync(join(vendorFolder, 'llama.cpp', 'LICENSE'), join(folder, 'LICENSE'));
  writeFileSync(join(folder, 'README.md'), readme(backend, manifest, facts));
  mkdirSync(to, { recursive: true });
  const [npm, ...first] = npmCommand();
  let name = '';
  const options = ['pack', folder, '--ignore-scripts', '--pack-destination', to];
  await run(npm, [...first, ...options], { quiet: true, onLine: (line) => (name = line.trim() || name) });
  return join(to, name);
}

const titles = { vulkan: 'Vulkan', cuda: 'CUDA', hip: 'HIP', metal: 'Metal' };

/** Libraries that the system must have. */
const needs = {
  vulkan: 'It needs `libvulkan.so.1` and the Vulkan driver of a GPU.',
  cuda: "It needs NVIDIA's driver and, of the CUDA 13 runtime, `libcudart` and `libcublas`.",
  hip: 'It needs the libraries of ROCm: `libamdhip64`, `libhipblas` and `librocblas`.',
  metal: 'It needs macOS with Metal.',
};

const readme = (backend, { name, description }, facts) => `# ${name}

${description}

Install it beside lorekeep \`${facts.lorekeep}\`; lorekeep finds it there. ${needs[backend]}
\`lorekeep doctor\` says whether it can be used, and why not.

The plugin is a part of llama.cpp ${facts.llamaCpp} (MIT, see LICENSE).

| File | SHA-256 |
|---|---|
| ${facts.file} | \`${facts.sha256}\` |
`;
