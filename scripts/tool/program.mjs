import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { builtinModules } from 'node:module';
import { basename, dirname, join, posix, relative } from 'node:path';
import { bundledPackages, packageFolders } from './bundled.mjs';
import { withoutAjv } from './mcp-sdk.mjs';
import { root } from './project.mjs';
import { Stop } from './stop.mjs';

/** Folder of the bundles, in dist/. */
export const programFolder = 'program';

/** Files of former builds are kept for this time, in ms. */
const formerMs = 24 * 60 * 60 * 1000;

/** Modules that a process or a thread starts with. Each list is a bundle of its own: threads share no modules. */
const bundles = [
  ['src/cli/main.ts'],
  [
    'src/knowledge/folder/reading/worker.ts',
    'src/documents/formats/pdf-worker.ts',
    'src/agents/lists/pattern-worker.ts',
  ],
];

/** The sources of the modules that import the bundles. */
export const programEntries = bundles.flat();

/** Packages that stay packages: undici is larger than all of src/ that a command loads, and only downloads use it. */
const external = ['undici', 'bufferutil', 'utf-8-validate'];

/**
 * Bundles what the command line and its threads run, with the packages that they import, into `dist`/program. The modules that
 * they start with import it from there. Loading hundreds of modules one by one takes longer than a search. Dynamic imports stay
 * files of their own, loaded when they are needed. `has`: whether a file of dist/ is in the edition; modules that are not stay
 * out of the bundle.
 */
export async function bundleProgram(dist, has = () => true) {
  const { build } = await import('esbuild');
  const folder = join(dist, programFolder);
  const results = await Promise.all(
    bundles.map((entries) =>
      build({
        absWorkingDir: root,
        entryPoints: entries.map((path) => join(root, path)),
        outdir: folder,
        entryNames: '[name]',
        bundle: true,
        splitting: true,
        write: false,
        platform: 'node',
        format: 'esm',
        // jsonc-parser's main file is UMD, which hides its imports.
        mainFields: ['module', 'main'],
        target: ['node20.19'],
        external,
        metafile: true,
        legalComments: 'none',
        logLevel: 'warning',
        plugins: [withoutAjv, withoutLocales, requiredBuiltins, outside(has)],
      }),
    ),
  );
  const files = results.flatMap(({ outputFiles }) => outputFiles);
  const packages = packageFolders(results.flatMap(({ metafile }) => Object.keys(metafile.inputs)));
  checkPackages(packages);
  mkdirSync(folder, { recursive: true });
  for (const { path, contents } of files) writeCurrent(path, contents);
  writeCurrent(join(folder, 'LICENSES.txt'), Buffer.from(licences(packages)));
  for (const entry of programEntries) writeEntry(dist, entry);
  removeFormer(folder);
  const bytes = files.reduce(
    (sum, { path, contents }) => sum + (path.endsWith('.js') ? contents.length : 0),
    0,
  );
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}

/** Puts an import of the bundle in place of a compiled module. */
function writeEntry(dist, entry) {
  const file = join(dist, entry.replace(/\.ts$/, '.js'));
  const bundle = posix.join(posix.relative(dirname(entry), '.'), programFolder, basename(file));
  const first = readFileSync(join(root, entry), 'utf8').match(/^#!.*\n/)?.[0] ?? '';
  mkdirSync(dirname(file), { recursive: true });
  writeCurrent(file, Buffer.from(`${first}// Bundled by scripts/tool/program.mjs.\nimport '${bundle}';\n`));
}

/** Writes a file unless it is there already: programs may be reading it. Another one is replaced, as it may be a link to a checkout's. */
function writeCurrent(file, contents) {
  if (existsSync(file) && readFileSync(file).equals(contents)) {
    const now = new Date();
    utimesSync(file, now, now);
    return;
  }
  const written = `${file}.new`;
  writeFileSync(written, contents);
  renameSync(written, file);
}

/** Removes files of former builds after a day: a program that was started before may load them when it needs them. */
function removeFormer(folder) {
  for (const name of readdirSync(folder)) {
    const file = join(folder, name);
    if (Date.now() - statSync(file).mtimeMs > formerMs) rmSync(file);
  }
}

/** Messages of zod in fifty languages, of which the product uses the English ones. */
const withoutLocales = {
  name: 'without-locales',
  setup(build) {
    build.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';",
    }));
  },
};

/** Modules of Node.js that CommonJS packages require. An ES module has no require() for them. */
const requiredBuiltins = {
  name: 'required-builtins',
  setup(build) {
    const nameOf = (path) => path.replace(/^node:/, '');
    build.onResolve({ filter: /^[\w:/]+$/ }, ({ path, kind }) =>
      kind === 'require-call' && builtinModules.includes(nameOf(path))
        ? { path: nameOf(path), namespace: 'builtin' }
        : undefined,
    );
    build.onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule('${path}');`,
    }));
  },
};

/** Leaves CommonJS modules of our own, which run before the bundle, and modules that an edition lacks outside. */
const outside = (has) => ({
  name: 'outside',
  setup(build) {
    build.onResolve({ filter: /^\.\.?\/.*\.c?js$/ }, ({ path, resolveDir }) => {
      const compiled = relative(root, join(resolveDir, path)).replaceAll('\\', '/');
      if (compiled.startsWith('node_modules/')) return undefined;
      if (path.endsWith('.js') && has(posix.join('dist', compiled))) return undefined;
      return { path: posix.join('..', compiled), external: true };
    });
  },
});

/** @throws Stop for a package that THIRD_PARTY.md and the bill of materials do not name as part of the package */
function checkPackages(folders) {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  for (const folder of folders) {
    const isInstalled = packages[folder]?.dev !== true && packages[folder]?.devOptional !== true;
    if (!isInstalled && !bundledPackages.some(({ name }) => folder === `node_modules/${name}`))
      throw new Stop(
        `the command line contains ${folder}: name it and its licence in scripts/tool/bundled.mjs`,
      );
  }
}

/** The licence texts of packages. */
function licences(folders) {
  const texts = folders.map((folder) => {
    const { name, version } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
    const file = readdirSync(join(root, folder)).find((each) => /^licen[cs]e/i.test(each));
    if (file === undefined) throw new Stop(`${folder} has no licence text`);
    return `${name} ${version}\n\n${readFileSync(join(root, folder, file), 'utf8').trim()}\n`;
  });
  return texts.join(`\n${'-'.repeat(80)}\n\n`);
}
