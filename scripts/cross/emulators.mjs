// How programs of another platform run here.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../tool/command.mjs';
import { root } from '../tool/project.mjs';
import { programPath } from './tree.mjs';

const folder = join(root, '.cache', 'cross');

/** By name: makes what it needs, and returns the command that a program is appended to, its environment, and what ends all. */
export const emulators = { wine };

/** A Windows 10 of its own, so that neither the user's settings nor another run's decide. */
async function wine() {
  const wine64 = programPath('wine64');
  const prefix = join(folder, 'wine');
  const env = {
    WINEPREFIX: prefix,
    WINEDEBUG: '-all',
    NODE_OPTIONS: `--require Z:${join(root, 'scripts', 'cross', 'wine', 'no-keep-alive.cjs')}`,
    NODE_SKIP_PLATFORM_CHECK: '1', // Wine 8 calls itself Windows 7 where Node.js asks
  };
  const ready = join(prefix, 'lorekeep-ready');
  if (!existsSync(ready)) {
    mkdirSync(prefix, { recursive: true });
    const log = join(folder, 'wine.log');
    await run(wine64, ['wineboot', '-i'], { env, log });
    const version = ['reg', 'add', 'HKCU\\Software\\Wine', '/v', 'Version', '/d', 'win10', '/f'];
    await run(wine64, version, { env, log });
    await bringRandomBytes(join(prefix, 'drive_c', 'windows', 'system32', 'bcryptprimitives.dll'), log);
    writeFileSync(ready, '');
  }
  const end = () => run(programPath('wineserver'), ['-k'], { env, quiet: true, allowFailure: true });
  return { launch: [wine64], env, end };
}

async function bringRandomBytes(library, log) {
  const source = join(root, 'scripts', 'cross', 'wine', 'process_prng.c');
  const args = ['-O2', '-shared', '-static', source, '-o', library, '-ladvapi32'];
  await run('x86_64-w64-mingw32-gcc-posix', args, { log });
}
