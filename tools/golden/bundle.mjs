import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { manifestFile } from '../../scripts/tool/project.mjs';
import { fetchPackage } from '../../scripts/vendor/fetch.mjs';

/** Unpacks the pinned release of llama.cpp, unpatched, into `folder` and returns the checkout. */
export async function unpackRelease(folder) {
  const { sources } = JSON.parse(readFileSync(manifestFile, 'utf8'));
  const source = sources.find(({ name }) => name === 'llama.cpp');
  const checkout = join(folder, source.commit);
  if (existsSync(join(checkout, 'LICENSE'))) return checkout;
  mkdirSync(folder, { recursive: true });
  await fetchPackage(source, join(folder, 'package'));
  const bundle = join(folder, 'package', source.bundle);
  execFileSync('git', [
    '-c',
    'core.autocrlf=false',
    '-c',
    'advice.detachedHead=false',
    'clone',
    '--quiet',
    bundle,
    checkout,
  ]);
  return checkout;
}
