import { posix } from 'node:path';

// import ... from 'x', export ... from 'x' and import 'x', over several lines, and import('x'), require('x'), new URL('x').
const statement =
  /^[ \t]*(?:import|export)\b(\s+type\b(?!\s*(?:,|from\b)))?(?:[\w\s$*,{}]*?\bfrom)?\s*(['"])([^'"\n]+)\2/gm;
const call = /\b(?:import|require|new URL)\s*\(\s*(['"`])([^'"`\n]+)\1/g;

/**
 * The files that a module imports with a relative path, as paths like its own. `types`: imports of types count too, although
 * they load nothing when the module runs.
 */
export function relativeImports(file, text, { types }) {
  const targets = [];
  for (const [, type, , target] of text.matchAll(statement)) if (types || !type) targets.push(target);
  for (const [, , target] of text.matchAll(call)) targets.push(target);
  return targets.filter((target) => target.startsWith('.')).map((target) => sourceOf(file, target));
}

/** Modules name the compiled file, and the source lies beside the place where it would be. */
const sourceOf = (file, target) => posix.join(posix.dirname(file), target).replace(/\.(c?)js$/, '.$1ts');
