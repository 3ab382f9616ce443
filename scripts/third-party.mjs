// Writes THIRD_PARTY.md from scripts/vendor/manifest.json, package.json and package-lock.json.
// node scripts/third-party.mjs --check | --write
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { bundledPackages } from './tool/bundled.mjs';
import { manifestFile, packageJson, root } from './tool/project.mjs';
import { sourceFiles } from './tool/sources.mjs';
import { runScript, Stop } from './tool/stop.mjs';

const target = join(root, 'THIRD_PARTY.md');

/** Packages whose names are also values in the product, and the files that have these. */
const wordsOfTheProduct = {
  openai: /^src\/models\/remote\/settings\.ts$/,
  postgres: /^(?:lib|src\/(?!knowledge\/postgres\/client\.ts$))|^test\/(?!helpers\/)/,
};

await runScript('third-party', (args) => {
  const { values } = parseArgs({ args, options: { check: { type: 'boolean' }, write: { type: 'boolean' } } });
  if (values.check === values.write) throw new Stop('say --check or --write');
  const text = compose();
  if (values.write) writeFileSync(target, text);
  else if (!existsSync(target) || readFileSync(target, 'utf8') !== text) {
    throw new Stop('THIRD_PARTY.md is out of date; `node scripts/third-party.mjs --write` makes it anew');
  }
  process.stdout.write(`third-party: THIRD_PARTY.md ${values.write ? 'written' : 'is current'}\n`);
});

function compose() {
  const packages = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  const { dependencies, devDependencies } = packageJson();
  const indirect = Object.entries(packages).filter(
    ([path, entry]) => path && !entry.dev && !entry.devOptional && !(nameOf(path) in dependencies),
  );
  return `${[
    '# Third-party software',
    'Made by `node scripts/third-party.mjs --write`; do not edit. lorekeep itself is under the Apache License 2.0 (LICENSE).',
    '## In the native addon',
    'Compiled into the addon or the libraries beside it; pdfjs-cmaps are files that the reader of PDF loads. Their licence texts are in the package, their sources in @lorekeep/source.',
    nativeTable(),
    '## In the packages of GPU plugins',
    'Each package holds one plugin and the licence text. Built from:',
    pluginTable(),
    '## In bundled files',
    'Contained in files of the package, which has their licence texts.',
    bundledTable(packages),
    '## Models',
    'Weights in `data/models/`.',
    table(
      ['model', 'by', 'licence', 'changes', 'licence text'],
      [
        [
          'all-MiniLM-L6-v2',
          'the sentence-transformers project, after MiniLM of Microsoft Research (MIT)',
          'Apache-2.0',
          'quantised (tools/models)',
          'LICENSE',
        ],
      ],
    ),
    '## npm packages that lorekeep depends on',
    'Installed beside lorekeep, each with its licence text. `dist/program/` contains what the command line usually loads of them, with their licence texts in `LICENSES.txt`.',
    table(['package', 'version', 'licence', 'used in'], direct(packages, dependencies)),
    'And what these depend on in turn:',
    table(
      ['package', 'version', 'licence'],
      indirect.map(([path, entry]) => [nameOf(path), entry.version, entry.license]),
    ),
    '## Test data',
    'Fetched for the tests of a git checkout; not part of the published package.',
    testDataTable(),
    '## Tools of the development alone',
    'Not part of the published package and not installed with it. cmake-js and node-addon-api are installed with @lorekeep/source.',
    table(['package', 'version', 'licence', 'used in'], direct(packages, toolsAmong(devDependencies))),
  ].join('\n\n')}\n`;
}

function nativeTable() {
  const { sources, data } = JSON.parse(readFileSync(manifestFile, 'utf8'));
  const rows = sources.filter(isShipped).flatMap((source) => {
    const place = `native/vendor/${source.name}`;
    const text = source.licenseText ?? `${place}/${source.licenseFile}`;
    const own = [source.name, source.version, source.license, source.use, text];
    const parts = source.parts.map((part) => [
      part.name,
      part.version,
      part.license,
      part.use,
      part.licenseText ?? `${place}/${part.licenseFile}`,
    ]);
    return [own, ...parts];
  });
  for (const entry of data)
    rows.push([entry.name, entry.version, entry.license, entry.use, entry.licenseFile]);
  return table(['name', 'version', 'licence', 'what for', 'licence text'], rows);
}

function isShipped(source) {
  return source.onlyFor !== 'test' && !source.onDemand;
}

function pluginTable() {
  const { sources } = JSON.parse(readFileSync(manifestFile, 'utf8'));
  const rows = sources.filter(({ onDemand }) => onDemand);
  return table(
    ['name', 'version', 'licence', 'what for'],
    rows.map(({ name, version, license, use }) => [name, version, license, use]),
  );
}

function bundledTable(packages) {
  const rows = bundledPackages.map(({ name, use, licenseFile, editions }) => {
    const { version, license } = packages[`node_modules/${name}`];
    return [name, version, license, use, editions.join(', '), licenseFile];
  });
  return table(['package', 'version', 'licence', 'what for', 'editions', 'licence text'], rows);
}

function toolsAmong(devDependencies) {
  const bundled = new Set(bundledPackages.map(({ name }) => name));
  return Object.fromEntries(Object.entries(devDependencies).filter(([name]) => !bundled.has(name)));
}

function testDataTable() {
  const { sources } = JSON.parse(readFileSync(manifestFile, 'utf8'));
  const rows = sources.filter(({ onlyFor }) => onlyFor === 'test');
  return table(
    ['name', 'version', 'licence', 'what for'],
    rows.map(({ name, version, license, use }) => [name, version, license, use]),
  );
}

function nameOf(path) {
  return path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
}

function direct(packages, names) {
  return Object.keys(names).map((name) => {
    const entry = packages[`node_modules/${name}`];
    return [name, entry.version, entry.license, foldersThatUse(name).join(', ')];
  });
}

/** The folders whose sources name the package in a string: an import, a require or a path. */
function foldersThatUse(name) {
  if (name.startsWith('@types/')) return ['types alone'];
  const mention = new RegExp(`['"]${name}(/[^'"]*)?['"]`);
  const files = sourceFiles(root, ['lib', 'src', 'scripts', 'test', 'bench', 'examples'], ['.ts', '.mjs']);
  const named = files.filter((file) => wordsOfTheProduct[name]?.test(file) !== true);
  const using = named.filter((file) => mention.test(readFileSync(join(root, file), 'utf8')));
  return [
    ...new Set(
      using.map((file) =>
        file
          .split('/')
          .slice(0, file.startsWith('src/') ? 2 : 1)
          .join('/'),
      ),
    ),
  ];
}

function table(head, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
