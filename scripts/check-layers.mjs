// One way only: src -> lib -> native, and inside native as the table in layers/cpp.mjs says. Prints each line that
// points the wrong way, and a way that imports or includes make from a file back to itself; exit status 1 when there is
// one, or when fewer files were seen than there must be.
// node scripts/check-layers.mjs [--root FOLDER] [--at-least FILES]
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { checkCppFile, cppFolders, includedFiles } from './layers/cpp.mjs';
import { findCycle } from './layers/cycles.mjs';
import { checkTypeScriptFile, importedFiles, typeScriptFolders } from './layers/typescript.mjs';
import { root as ownRoot } from './tool/project.mjs';
import { sourceFiles } from './tool/sources.mjs';
import { runScript, Stop } from './tool/stop.mjs';

await runScript('check-layers', (args) => {
  const { values } = parseArgs({
    args,
    options: { root: { type: 'string' }, 'at-least': { type: 'string', default: '100' } },
  });
  const root = resolve(values.root ?? ownRoot);
  const packages = Object.keys(
    JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).dependencies ?? {},
  );
  const problems = [];
  const check = (files, checkFile, filesOf) => {
    const imports = new Map();
    for (const file of files) {
      const lines = readFileSync(join(root, file), 'utf8').split('\n');
      for (const { line, message } of checkFile(file, lines, packages))
        problems.push(`${file}:${line}: ${message}`);
      imports.set(file, filesOf(file, lines));
    }
    const cycle = findCycle(imports);
    if (cycle) problems.push(`${cycle[0]}: comes back to itself: ${cycle.join(' -> ')}`);
    return files.length;
  };
  const typeScript = check(sourceFiles(root, typeScriptFolders, ['.ts']), checkTypeScriptFile, importedFiles);
  const cpp = check(sourceFiles(root, cppFolders, ['.cc', '.h']), checkCppFile, includedFiles);
  for (const problem of problems) process.stdout.write(`${problem}\n`);
  const least = Number(values['at-least']);
  if (typeScript + cpp < least)
    throw new Stop(`only ${typeScript + cpp} files were seen, at least ${least} were expected`);
  if (problems.length > 0) throw new Stop(`${problems.length} includes or imports point the wrong way`);
  process.stdout.write(`check-layers: ${typeScript} TypeScript and ${cpp} C++ files are in their layers\n`);
});
