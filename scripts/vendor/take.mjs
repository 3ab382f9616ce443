import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { run } from '../tool/command.mjs';
import { Stop } from '../tool/stop.mjs';

/** From the unpacked package: the git bundle or folder in it, patched, and of that only what the manifest keeps. */
export async function takeSources(source, { fetched, made, checkout, patches }) {
  const tree = source.bundle
    ? await cloneBundle(source, join(fetched, source.bundle), checkout)
    : join(fetched, source.folder);
  if (!existsSync(tree)) throw new Stop(`${source.name}: ${source.package} has no folder ${source.folder}`);
  for (const patch of patches) await applyPatch(source, tree, patch);
  for (const path of source.keep) keep(source, tree, made, path);
  for (const path of source.drop) rmSync(join(made, path), { recursive: true, force: true });
  if (!existsSync(join(made, source.licenseFile))) {
    throw new Stop(
      `${source.name}: its licence text ${source.licenseFile} is not among what the manifest keeps`,
    );
  }
}

/** Git must not look past `folder`, or it would find lorekeep's own repository. */
const gitEnvironment = (folder) => ({
  GIT_CEILING_DIRECTORIES: dirname(folder),
  GIT_CONFIG_GLOBAL: process.platform === 'win32' ? 'NUL' : '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  LC_ALL: 'C',
});

async function git(folder, args) {
  const result = await run('git', args, {
    cwd: folder,
    env: gitEnvironment(folder),
    quiet: true,
    allowFailure: true,
  });
  if (result.code !== 0) return { ...result, failed: result.output.trim().split('\n')[0] };
  return result;
}

async function cloneBundle(source, bundle, checkout) {
  if (!existsSync(bundle)) throw new Stop(`${source.name}: ${source.package} has no file ${source.bundle}`);
  mkdirSync(checkout, { recursive: true });
  const options = ['-c', 'advice.detachedHead=false', '-c', 'core.autocrlf=false'];
  const clone = await git(checkout, [...options, 'clone', '--quiet', bundle, '.']);
  if (clone.failed) throw new Stop(`${source.name}: git cannot unpack ${source.bundle}: ${clone.failed}`);
  const head = (await git(checkout, ['rev-parse', 'HEAD'])).output.trim();
  if (head !== source.commit) {
    throw new Stop(
      `${source.name}: ${source.bundle} holds commit ${head}, but the manifest says ${source.commit}`,
    );
  }
  return checkout;
}

async function applyPatch(source, tree, patch) {
  const result = await git(tree, ['apply', '--whitespace=nowarn', patch]);
  if (!result.failed) return;
  throw new Stop(
    `${source.name}: the patch ${basename(patch)} does not apply (${result.failed}); redo it against ${source.package}`,
  );
}

/** `path` is a file, a folder with all that is in it, or `folder/*` for the files directly in that folder. */
function keep(source, tree, made, path) {
  const filesOnly = path === '*' || path.endsWith('/*');
  const name = filesOnly ? path.slice(0, -2) : path;
  const from = join(tree, name);
  if (!existsSync(from))
    throw new Stop(`${source.name}: the manifest keeps ${path}, which ${source.package} does not have`);
  mkdirSync(dirname(join(made, name)), { recursive: true });
  if (!filesOnly) {
    cpSync(from, join(made, name), { recursive: true });
    return;
  }
  for (const file of readdirSync(from)) {
    if (statSync(join(from, file)).isFile()) cpSync(join(from, file), join(made, name, file));
  }
}
