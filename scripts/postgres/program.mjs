// A real PostgreSQL with pgvector: Debian's, copied so that pgvector needs no rights of root.
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { sha256Of } from '../tool/checksums.mjs';
import { findProgram, run } from '../tool/command.mjs';
import { root } from '../tool/project.mjs';
import { Stop } from '../tool/stop.mjs';

const cache = join(root, '.cache', 'postgresql');
const log = join(cache, 'log');
const installed = '/usr/lib/postgresql';

/** Debian 12 has no package of pgvector; the source of Debian 13's builds with any PostgreSQL. */
const pgvector = {
  name: 'pgvector',
  suite: 'trixie',
  file: 'pgvector_0.8.0.orig.tar.gz',
  sha256: '867a2c328d4928a5a9d6f052cd3bc78c7d60228a9b914ad32aa3db88e9de27b0',
};

/** Returns the folder of the programs of a PostgreSQL that has pgvector. Makes it if it is not there. */
export async function postgresWithVectors() {
  const version = versionInstalled();
  const copy = join(cache, version);
  const programs = join(copy, 'lib', 'postgresql', version, 'bin');
  if (existsSync(join(copy, 'complete'))) return programs;
  rmSync(copy, { recursive: true, force: true });
  // Its programs look for their files beside themselves, so a copy is a whole installation.
  for (const part of ['lib', 'share'])
    cpSync(`/usr/${part}/postgresql/${version}`, join(copy, part, 'postgresql', version), {
      recursive: true,
      verbatimSymlinks: true,
    });
  await addVectors(version, copy);
  writeFileSync(join(copy, 'complete'), '');
  return programs;
}

function versionInstalled() {
  const packages = 'apt install postgresql postgresql-server-dev-all make gcc';
  if (!existsSync(installed)) throw new Stop(`PostgreSQL is not installed: ${packages}`);
  const versions = readdirSync(installed).filter((name) =>
    existsSync(join(installed, name, 'bin', 'initdb')),
  );
  const version = versions.sort((a, b) => Number(b) - Number(a)).find(hasHeaders);
  if (version === undefined) throw new Stop(`the headers of PostgreSQL are not installed: ${packages}`);
  return version;
}

const hasHeaders = (version) => existsSync(`/usr/include/postgresql/${version}/server/postgres.h`);

async function addVectors(version, copy) {
  const source = join(cache, pgvector.name);
  rmSync(source, { recursive: true, force: true });
  mkdirSync(source, { recursive: true });
  await run('tar', ['-xzf', await fetchSource(), '--strip-components=1', '-C', source], { log });
  const config = join(installed, version, 'bin', 'pg_config');
  await run('make', ['with_llvm=no', 'OPTFLAGS=', `PG_CONFIG=${config}`], { cwd: source, log });
  copyFileSync(join(source, 'vector.so'), join(copy, 'lib', 'postgresql', version, 'lib', 'vector.so'));
  const extensions = join(copy, 'share', 'postgresql', version, 'extension');
  copyFileSync(join(source, 'vector.control'), join(extensions, 'vector.control'));
  const scripts = readdirSync(join(source, 'sql')).filter((name) => /^vector--.*\.sql$/.test(name));
  for (const name of scripts) copyFileSync(join(source, 'sql', name), join(extensions, name));
}

/** Fetches the source by apt from the mirror of this machine, beside the machine's own lists. Returns its path. */
async function fetchSource() {
  const path = join(cache, pgvector.file);
  if (!existsSync(path)) {
    if (findProgram('apt-get') === undefined)
      throw new Stop('apt-get is needed to fetch the source of pgvector');
    const apt = join(cache, 'apt');
    for (const folder of ['state/lists/partial', 'cache/archives/partial'])
      mkdirSync(join(apt, folder), { recursive: true });
    const sources = join(apt, 'list.sources');
    writeFileSync(sources, sourceList());
    const options = [
      `Dir::Etc::sourcelist=${sources}`,
      'Dir::Etc::sourceparts=/dev/null',
      `Dir::State=${join(apt, 'state')}`,
      `Dir::Cache=${join(apt, 'cache')}`,
      'Dir::State::status=/var/lib/dpkg/status',
    ].flatMap((option) => ['-o', option]);
    await run('apt-get', [...options, 'update'], { log });
    await run('apt-get', [...options, '--download-only', 'source', pgvector.name], { cwd: cache, log });
  }
  const sha256 = sha256Of(path);
  if (sha256 !== pgvector.sha256)
    throw new Stop(`${path} has another content than expected: its SHA-256 is ${sha256}`);
  return path;
}

/** Debian 13's sources on the mirror that this machine uses. */
function sourceList() {
  const folder = '/etc/apt/sources.list.d';
  const files = ['/etc/apt/sources.list', ...readdirSync(folder).map((name) => join(folder, name))];
  const text = files
    .filter((file) => existsSync(file))
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n');
  const mirror = /^(?:URIs:|deb(?: \[[^\]]*\])?)\s+(\S+\/debian)\/?(?:\s|$)/m.exec(text)?.[1];
  if (mirror === undefined) throw new Stop('the settings of apt name no mirror of Debian');
  const key = '/usr/share/keyrings/debian-archive-keyring.gpg';
  return `Types: deb-src\nURIs: ${mirror}\nSuites: ${pgvector.suite}\nComponents: main\nSigned-By: ${key}\n`;
}
