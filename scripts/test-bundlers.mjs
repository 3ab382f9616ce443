// `npm run test:bundlers [-- TOOL ...]`: makes the program of a user with each tool, from the packed package and the newest tools of
// the npm registry, and runs it. Needs a prebuild (`npm run prebuild`). Prints a line per try; docs/guides/shipping.md has the settings.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cases } from './bundlers/cases.mjs';
import { Project } from './bundlers/project.mjs';
import { root } from './tool/project.mjs';
import { runScript, Stop } from './tool/stop.mjs';

await runScript('test-bundlers', async (names) => {
  const known = cases.map(({ tool }) => tool);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Stop(`${unknown}: no such tool; there are ${known.join(', ')}`);
  const folder = mkdtempSync(join(tmpdir(), 'lorekeep-bundlers-'));
  try {
    const args = ['pack', root, '--ignore-scripts', '--json', '--pack-destination', folder];
    const [{ filename }] = JSON.parse(execFileSync('npm', args, { encoding: 'utf8', maxBuffer: 64 << 20 }));
    let failed = 0;
    for (const one of cases.filter(({ tool }) => names.length === 0 || names.includes(tool)))
      failed += tryTool(one, join(folder, filename));
    if (failed > 0) throw new Stop(`${failed} tries failed`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

/** Returns the number of failed tries. */
function tryTool({ tool, packages, tries }, tarball) {
  const project = new Project(tarball);
  try {
    const version = project.add(...packages);
    let failed = 0;
    for (const [name, [run, expected]] of Object.entries(tries)) {
      const printed = outputOf(run, project);
      const passed = typeof expected === 'string' ? printed.trim() === expected : expected.test(printed);
      console.log(
        `${passed ? 'ok     ' : 'FAILED '} ${tool} ${version}: ${name}${passed ? '' : `\n${printed}`}`,
      );
      if (!passed) failed++;
    }
    return failed;
  } finally {
    project.remove();
  }
}

function outputOf(run, project) {
  try {
    return run(project);
  } catch (error) {
    return String(error.message);
  }
}
