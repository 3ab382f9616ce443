// musl's dynamic loader, from Debian's package, for the Node.js that is made for musl.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { sha256Of } from '../tool/checksums.mjs';
import { run } from '../tool/command.mjs';
import { root } from '../tool/project.mjs';
import { Stop } from '../tool/stop.mjs';

/** Of Debian 13. Debian 12's 1.2.3 cannot load Node.js, which has packed relocations. */
const debian = {
  path: 'pool/main/m/musl/musl_1.2.5-3_amd64.deb',
  sha256: '4288deaf14438e6c237491be45f10e3e7badb2e723cedfb08ff1fe687b646c84',
  library: join('usr', 'lib', 'x86_64-linux-musl', 'libc.so'),
};
const place = join(root, '.cache', 'cross', 'musl-1.2.5-3');

/**
 * Makes a program ask for the loader of `.cache/cross/` instead of /lib/ld-musl-x86_64.so.1, which takes root to install: its
 * child processes start as they would on a system with musl. Node.js itself stays as it is.
 */
export async function useMusl(program) {
  const loader = await fetchLoader();
  const file = readFileSync(program);
  const entry = interpreterEntry(file);
  const begin = Number(file.readBigUInt64LE(entry + 8));
  const length = Number(file.readBigUInt64LE(entry + 32));
  if (file.toString('latin1', begin, begin + length - 1) === loader) return;
  const name = Buffer.from(`${loader}\0`);
  file.writeBigUInt64LE(BigInt(file.length), entry + 8); // p_offset, which alone the kernel reads
  file.writeBigUInt64LE(BigInt(name.length), entry + 32); // p_filesz
  const beside = `${program}.${process.pid}`;
  writeFileSync(beside, Buffer.concat([file, name]), { mode: 0o755 });
  renameSync(beside, program);
}

/** The place of PT_INTERP in the table of segments of a 64-bit ELF file. */
function interpreterEntry(file) {
  const table = Number(file.readBigUInt64LE(32));
  const [size, count] = [file.readUInt16LE(54), file.readUInt16LE(56)];
  for (let entry = 0; entry < count; entry++) {
    const at = table + entry * size;
    if (file.readUInt32LE(at) === 3) return at;
  }
  throw new Stop('Node.js for musl names no dynamic loader');
}

/** Returns the path of the loader. The mirror is the one that apt uses. */
async function fetchLoader() {
  const loader = join(place, 'ld-musl-x86_64.so.1');
  if (existsSync(loader)) return loader;
  const { LOREKEEP_DEBIAN_MIRROR: mirror = await ownMirror() } = process.env;
  const response = await fetch(new URL(debian.path, mirror));
  if (!response.ok) throw new Stop(`${debian.path} of ${mirror} could not be fetched: ${response.status}`);
  const beside = `${place}.${process.pid}`;
  try {
    mkdirSync(beside, { recursive: true });
    const archive = join(beside, 'musl.deb');
    writeFileSync(archive, Buffer.from(await response.arrayBuffer()));
    const sha256 = sha256Of(archive);
    if (sha256 !== debian.sha256)
      throw new Stop(
        `${debian.path} has another content than scripts/cross/musl.mjs says: its SHA-256 is ${sha256}`,
      );
    await run('dpkg-deb', ['-x', archive, beside], { quiet: true });
    copyFileSync(join(beside, debian.library), join(beside, basename(loader)));
    rmSync(place, { recursive: true, force: true });
    renameSync(beside, place);
  } finally {
    rmSync(beside, { recursive: true, force: true });
  }
  return loader;
}

async function ownMirror() {
  const format = ['--format', '$(ORIGIN) $(REPO_URI)', 'Created-By: Packages', 'Component: main'];
  const { output } = await run('apt-get', ['indextargets', ...format], { quiet: true });
  const [, mirror] = output.match(/^Debian (\S+)$/m) ?? [];
  if (mirror === undefined)
    throw new Stop(
      'no mirror of Debian is known to apt: LOREKEEP_DEBIAN_MIRROR names one, such as https://HOST/debian/',
    );
  return mirror;
}
