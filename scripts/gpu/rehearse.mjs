// `npm run test:gpu -- --rehearse`: the packed files beside the tracked ones in a fresh folder, and scripts/gpu/run.sh there, with no Node.js
// in PATH and, where the system allows it, without a network. In place of a GPU: Mesa's llvmpipe if the Vulkan plugin is built, else
// the stand-in plugin of the tests.
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { pluginFile, stageOf } from '../backends/plugin.mjs';
import { root } from '../tool/project.mjs';
import { Stop } from '../tool/stop.mjs';
import { filesOfCheckout } from './pack.mjs';

/** What needs a GPU of NVIDIA, or takes too long without one. */
const notRehearsed = [
  'the ceilings of the GPU (compiled only)',
  'the whole CUDA plugin (one file is compiled)',
  'the checks of CUDA: its plugin, graphs, the loss of its device through the shim',
  'llama-server with a plugin',
  'Vulkan through the driver of a GPU',
  'the shapes of Llama-3.2-1B and Llama-3.1-8B',
];
/** Programs of a Node.js installation. */
const nodePrograms = new Set(['node', 'nodejs', 'npm', 'npx', 'corepack']);

/** @param device llvmpipe, stand-in, or undefined for the best that is there @throws Stop if a step failed that should not */
export async function rehearse(parts, device) {
  const folder = mkdtempSync(join(tmpdir(), 'lorekeep rehearsal '));
  try {
    for (const file of filesOfCheckout()) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      cpSync(join(root, file), join(folder, file), { verbatimSymlinks: true });
    }
    mkdirSync(join(folder, '.gpu'), { recursive: true });
    for (const part of parts) cpSync(part, join(folder, '.gpu', basename(part)));
    const out = join(folder, 'out');
    const hasVulkan = existsSync(join(stageOf('vulkan'), pluginFile('vulkan')));
    runApart(folder, {
      PATH: withoutNode(join(folder, '.programs')),
      HOME: folder,
      OUT: out,
      LOREKEEP_GPU_SECONDS: '3600',
      LOREKEEP_GPU_REHEARSAL: device ?? (hasVulkan ? 'llvmpipe' : 'stand-in'),
      ...pick('PYTHONPATH', 'CCACHE_DIR', 'LANG'),
    });
    report(out);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const pick = (...names) =>
  Object.fromEntries(names.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));

/** A folder with links to the programs of PATH, but for those of Node.js. */
function withoutNode(folder) {
  mkdirSync(folder);
  for (const from of (process.env.PATH ?? '').split(':')) {
    if (!existsSync(from) || from.includes('node_modules')) continue;
    for (const name of readdirSync(from))
      if (!nodePrograms.has(name) && !existsSync(join(folder, name))) {
        try {
          symlinkSync(join(from, name), join(folder, name));
        } catch (error) {
          if (error.code !== 'EEXIST') throw error; // a link to nothing
        }
      }
  }
  return folder;
}

/** Runs run.sh with a loopback as its only network, if this user may do that. */
function runApart(cwd, env) {
  const script = join('scripts', 'gpu', 'run.sh');
  const apart = ['-n', 'sh', '-c', `ip link set lo up && exec sh ${script}`];
  const may = spawnSync('unshare', ['-n', 'ip', 'link', 'set', 'lo', 'up'], { stdio: 'ignore' }).status === 0;
  if (!may) console.log('this user cannot take the network away: the rehearsal has one');
  const [program, args] = may ? ['unshare', apart] : ['sh', [script]];
  const { status, error } = spawnSync(program, args, { cwd, env, stdio: 'inherit' });
  if (error) throw error;
  if (status !== 0) throw new Stop(`run.sh ended with ${status}`);
}

function report(out) {
  const lines = readFileSync(join(out, 'results.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  for (const name of notRehearsed) console.log(`not rehearsed: ${name}`);
  const expected = new Set(['ceilings']); // there is no GPU
  const bad = lines.filter(({ step, status }) => ['failed', 'late'].includes(status) && !expected.has(step));
  if (bad.length > 0)
    throw new Stop(`failed or late: ${bad.map(({ step, check }) => step ?? check).join('; ')}`);
}
