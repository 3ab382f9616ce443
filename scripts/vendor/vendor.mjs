import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { manifestFile, root, vendorFolder } from '../tool/project.mjs';
import { Stop } from '../tool/stop.mjs';
import { makeSilero } from './silero.mjs';

/** Written last into each vendored folder: the hash of all that made it. */
const stampName = 'vendored.json';

/**
 * Makes `into` agree with the manifest and says in one phrase what it did. A source whose stamp matches is left alone.
 * `only` names the sources that are wanted; without it, all but those with `onDemand`.
 * Each folder is made beside its place and renamed, so that an interrupted run leaves the old one or none.
 */
export async function vendor({ manifest = manifestFile, into = vendorFolder, force = false, only } = {}) {
  const sources = readManifest(manifest).filter(({ name, onDemand }) => only?.includes(name) ?? !onDemand);
  const stale = sources.filter((source) => force || !isCurrent(source, manifest, into));
  for (const source of stale) await bring(source, manifest, resolve(into));
  if (into === vendorFolder && sources.some(({ name }) => name === 'silero-vad')) makeSilero();
  const names = (list) => list.map((source) => `${source.name} ${source.version}`).join(', ');
  return stale.length === 0
    ? `${names(sources)} are in place`
    : `brought ${names(stale)} into ${relative(process.cwd(), into)}`;
}

/** A source with `onlyFor` is left out where that folder is missing: a published package has no tests. */
function readManifest(path) {
  try {
    const { sources } = JSON.parse(readFileSync(path, 'utf8'));
    return sources.filter(({ onlyFor }) => onlyFor === undefined || existsSync(join(root, onlyFor)));
  } catch (error) {
    throw new Stop(`${path} cannot be read: ${error.message}`);
  }
}

const patchPaths = (source, manifest) =>
  source.patches.map((name) => join(dirname(manifest), 'patches', name));

/** Over what decides the vendored files, and no more: rewording `use` must not recompile llama.cpp. */
function fingerprint(source, manifest) {
  const { name, integrity, bundle, commit, folder, keep, drop, licenseFile } = source;
  const facts = { name, package: source.package, integrity, bundle, commit, folder, keep, drop, licenseFile };
  const hash = createHash('sha256').update(JSON.stringify(facts));
  for (const path of patchPaths(source, manifest)) {
    if (!existsSync(path))
      throw new Stop(`${source.name}: the patch ${path} is missing; take it out of ${manifest}`);
    hash.update(readFileSync(path));
  }
  return hash.digest('hex');
}

function isCurrent(source, manifest, into) {
  const stamp = join(into, source.name, stampName);
  return (
    existsSync(stamp) && JSON.parse(readFileSync(stamp, 'utf8')).fingerprint === fingerprint(source, manifest)
  );
}

async function bring(source, manifest, into) {
  // Loaded only here: a published package carries its sources and has no use for what fetches them.
  const { fetchPackage } = await import('./fetch.mjs');
  const { takeSources } = await import('./take.mjs');
  const beside = join(into, `.${source.name}-${process.pid}`);
  const fetched = join(beside, 'package');
  const made = join(beside, 'made');
  try {
    mkdirSync(beside, { recursive: true });
    await fetchPackage(source, fetched);
    await takeSources(source, {
      fetched,
      made,
      checkout: join(beside, 'checkout'),
      patches: patchPaths(source, manifest),
    });
    writeFileSync(join(made, stampName), stampText(source, manifest));
    rmSync(join(into, source.name), { recursive: true, force: true });
    renameSync(made, join(into, source.name));
  } finally {
    rmSync(beside, { recursive: true, force: true });
  }
}

const stampText = (source, manifest) => {
  const { name, version, license } = source;
  return `${JSON.stringify({ name, version, license, from: source.package, fingerprint: fingerprint(source, manifest) }, null, 2)}\n`;
};
