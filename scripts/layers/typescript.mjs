import { posix } from 'node:path';
import { wrongFolder } from './folders.mjs';

export const typeScriptFolders = ['lib', 'src'];

/** Packages that lib/ may import besides Node itself: scripts that use the library should pull in nothing of the server's. */
const packagesOfLib = ['node-gyp-build'];

/** Files of lib/ that src/ may import: the whole library, which loads the addon, and the parts that do not load it. */
const doorsOfLib = ['lib/internal.js', 'lib/basics.js'];

/** Files that the build bundles with a package, which is no dependency. */
const bundledWith = { 'src/doors/mcp/sdk.ts': '@modelcontextprotocol/server' };

// import ... from 'x', export ... from 'x', import 'x', import('x'), require('x'); specifiers may follow on a later line.
const specifier = /(?:\bfrom\s+|\bimport\s+|\bimport\s*\(\s*|\brequire\s*\(\s*)(['"])([^'"]+)\1/g;

/** `lines` of the file `file`; `packages` are the names under "dependencies" in package.json. */
export function checkTypeScriptFile(file, lines, packages) {
  const problems = [];
  lines.forEach((text, index) => {
    for (const match of withoutComment(text).matchAll(specifier)) {
      const message = file.startsWith('lib/') ? fromLib(file, match[2]) : fromSrc(file, match[2], packages);
      if (message) problems.push({ line: index + 1, message });
    }
  });
  return problems;
}

/** The files that a file imports, types included. */
export function importedFiles(file, lines) {
  return lines
    .flatMap((text) => [...withoutComment(text).matchAll(specifier)].map((match) => match[2]))
    .filter((target) => target.startsWith('.'))
    .map((target) => resolved(file, target).replace(/\.js$/, '.ts'));
}

const withoutComment = (text) => (/^\s*(\*|\/\/|\/\*)/.test(text) ? '' : text);
const packageName = (name) =>
  name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/');

function fromLib(file, target) {
  if (target.startsWith('node:')) return undefined;
  if (target.startsWith('.')) {
    return resolved(file, target).startsWith('lib/')
      ? undefined
      : `lib may import nothing outside lib, and this is '${target}'`;
  }
  return packagesOfLib.includes(packageName(target))
    ? undefined
    : `lib may use Node and ${packagesOfLib.join(', ')} only, and this is '${target}'`;
}

function fromSrc(file, target, packages) {
  if (target.startsWith('node:')) return undefined;
  if (!target.startsWith('.')) {
    if (packagesOfLib.includes(packageName(target)))
      return `src reaches the addon through lib/internal only, and this is '${target}'`;
    return packages.includes(packageName(target)) || bundledWith[file] === packageName(target)
      ? undefined
      : `'${target}' is not among the dependencies of package.json`;
  }
  const path = resolved(file, target);
  if (
    path.startsWith('src/cli/commands/') &&
    file !== 'src/cli/program.ts' &&
    !file.startsWith('src/cli/commands/')
  )
    return `a command's implementation knows nothing of its command line, and this is '${target}'`;
  if (path.startsWith('src/')) return wrongFolder(file.slice(4), path.slice(4));
  if (doorsOfLib.includes(path)) return undefined;
  return path.startsWith('lib/')
    ? `src may import ${doorsOfLib.join(' and ')} only, and this is '${target}'`
    : `src may import src, ${doorsOfLib.join(' and ')} only, and this is '${target}'`;
}

const resolved = (file, target) => posix.join(posix.dirname(file), target);
